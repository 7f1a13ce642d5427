# SPDX-License-Identifier: Apache-2.0
"""Question: does a pipeline of copy in, compute, copy out over two streams take the time of its
slowest stage?

The data goes through in chunks that take turns on the streams: while one is computed the next is
copied in and the last copied out. With two streams two chunks are under way: both copies of one
have the time of the other's kernel, which therefore takes a fifth longer than they do. Each stage
is timed alone over all chunks, on the same streams, and the table relates the pipeline to the
slowest. Results are checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Figure, Table

SOURCE = """
extern "C" __global__ void work(float *x, unsigned n, int turns)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        for (int k = 0; k < turns; k++)
            v = fmaf(v, 0.5f, 1.0f);
        x[i] = v;
    }
}
"""
CHUNK, CHUNKS = 1 << 20, 64  # floats, number


class _Pipeline:
    """Two streams, each with room for a chunk; chunks take turns."""

    def __init__(self, chunk: int, turns: int) -> None:
        import tessera.pycuda.autoinit  # noqa: F401
        from tessera.pycuda import driver as drv
        from tessera.pycuda.compiler import SourceModule

        self.drv, self.chunk, self.turns = drv, chunk, turns
        self.source = drv.pagelocked_empty((CHUNKS, chunk), np.float32)
        self.target = drv.pagelocked_zeros((CHUNKS, chunk), np.float32)
        self.source[...] = np.random.default_rng().random(self.source.shape, np.float32)
        self.streams = [drv.Stream(1), drv.Stream(1)]  # they do not wait for the default stream
        self.rooms = [drv.mem_alloc(4 * chunk) for _ in self.streams]
        self.kernel = SourceModule(SOURCE).get_function("work").prepare("PIi")

    def copy_in(self, i: int) -> None:
        self.drv.memcpy_htod_async(self.rooms[i & 1], self.source[i], self.streams[i & 1])

    def compute(self, i: int) -> None:
        grid = (-(-self.chunk // 256), 1)
        self.kernel.prepared_async_call(
            grid, (256, 1, 1), self.streams[i & 1], self.rooms[i & 1], self.chunk, self.turns
        )

    def copy_out(self, i: int) -> None:
        self.drv.memcpy_dtoh_async(self.target[i], self.rooms[i & 1], self.streams[i & 1])

    def run(self, *stages: Any) -> float:
        """Seconds of all chunks through some of the stages, by events of the device."""
        begin, middle, end = (self.drv.Event() for _ in range(3))
        self.drv.Context.synchronize()
        begin.record(self.streams[0])
        self.streams[1].wait_for_event(begin)
        for i in range(CHUNKS):
            for stage in stages:
                stage(i)
        middle.record(self.streams[1])
        self.streams[0].wait_for_event(middle)
        end.record(self.streams[0])
        end.synchronize()
        return end.time_since(begin) * 1e-3

    def check(self) -> float:
        """The largest error of every sixteenth chunk."""
        wanted = self.source[::16].astype(np.float64)
        for _ in range(min(self.turns, 60)):  # it has converged to float64 by then
            wanted = wanted * 0.5 + 1.0
        return float(np.abs(self.target[::16] - wanted).max())


LONGER = 1.2  # the kernel, than both copies together


def _balanced(chunk: int) -> _Pipeline:
    """A pipeline whose kernel takes ``LONGER`` times both copies."""
    pipeline = _Pipeline(chunk, 1024)
    for _ in range(4):  # the first to warm up; a kernel's time is not quite in proportion to its turns
        copies = pipeline.run(pipeline.copy_in) + pipeline.run(pipeline.copy_out)
        compute = pipeline.run(pipeline.compute)
        pipeline.turns = max(1, round(pipeline.turns * LONGER * copies / compute))
    return pipeline


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    if device != "cuda":
        print("  overlap: a GPU is needed; not measured")
        return []
    pipeline = _balanced(CHUNK >> 6 if small else CHUNK)
    stages = {
        "copy in": (pipeline.copy_in,), "compute": (pipeline.compute,),
        "copy out": (pipeline.copy_out,),
        "all three, overlapped": (pipeline.copy_in, pipeline.compute, pipeline.copy_out),
    }  # fmt: skip
    times: dict[str, list[float]] = {name: [] for name in stages}
    for _ in range(rounds):
        for name, run in stages.items():
            times[name].append(pipeline.run(*run))
    error = pipeline.check()
    figures = [Figure(n, t, error if "all" in n else float("nan")) for n, t in times.items()]
    slowest = max(figures[:3], key=lambda f: f.median)
    size = 4 * pipeline.chunk * CHUNKS
    note = f"{CHUNKS} chunks of {4 * pipeline.chunk >> 10} KiB; the slowest stage alone is {slowest.peer}"
    table = Table("overlap: copy, compute, copy over two streams", "GB/s", size / 1e9, slowest.peer,
                  figures, note)  # fmt: skip
    return [table]
