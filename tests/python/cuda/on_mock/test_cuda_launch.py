# SPDX-License-Identifier: Apache-2.0
"""What launches of thread kernels give the driver."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
import tessera
from tessera import _core, compute, core, cuda

from tests.python.cuda.kernels import NOTHING, TextKernel, nothing, scale
from tests.python.mock_driver import MockState


def launched(mock: MockState) -> tuple[Any, ...]:
    return tuple(mock.grid), tuple(mock.block), mock.shared_bytes


def test_grid_block_and_shared_memory_reach_the_driver(mock: MockState) -> None:
    kernel = TextKernel(nothing, NOTHING)
    kernel[5, 64]()
    assert launched(mock) == ((5, 1, 1), (64, 1, 1), 0)
    kernel[(2, 3), (8, 4, 2), 0, 512]()
    assert launched(mock) == ((2, 3, 1), (8, 4, 2), 512)
    kernel.configure((1, 2, 3), [16])()
    assert launched(mock) == ((1, 2, 3), (16, 1, 1), 0)
    _core.launch_threads(None, 7, (32, 2), 16, None, kernel, ())
    assert launched(mock) == ((7, 1, 1), (32, 2, 1), 16)


def test_a_kernel_without_arrays_runs_on_the_gpu(mock: MockState) -> None:
    before = mock.n_launches
    TextKernel(nothing, NOTHING)[1, 32]()
    assert mock.n_launches == before + 1


def test_clusters_reach_the_driver(mock: MockState) -> None:
    TextKernel(nothing, NOTHING)[4, 32, 0, 0, (2, 1, 1)]()
    assert mock.cluster == 2
    with pytest.raises(ValueError, match="do not divide the grid"):
        TextKernel(nothing, NOTHING)[3, 32, 0, 0, 2]()


MATRICES = """
thread entry @nothing() {
  %s = shared_alloc bytes=128 align=16 : ptr<f16, shared>
  %m = ldmatrix n=1 %s : i32
  return
}
"""


def test_what_warps_do_together_wants_whole_ones(mock: MockState) -> None:
    before, kernel = mock.n_launches, TextKernel(nothing, MATRICES)
    with pytest.raises(ValueError, match=r"a block of \(8, 2, 1\) threads; .* a multiple of 32 threads"):
        kernel[1, (8, 2)]()
    assert mock.n_launches == before
    kernel[1, (8, 4)]()
    assert mock.n_launches == before + 1


def test_launches_that_are_watched_are_refused(mock: MockState) -> None:
    before = mock.n_launches
    with pytest.raises(cuda.errors.LoweringError, match="threads are watched on the CPU device alone"):
        cuda.jit(nothing, checked="races")[1, 32]()
    assert mock.n_launches == before


def test_streams_of_all_forms(mock: MockState) -> None:
    kernel = TextKernel(nothing, NOTHING)
    stream = core.Device(0).create_stream()
    for form in (stream, int(stream.handle)):
        kernel[1, 32, form]()
        assert mock.stream == int(stream.handle)


def test_device_arrays_are_passed_as_they_are(mock: MockState) -> None:
    mock.n_values = 4
    x = tessera.zeros(100, "float32", "cuda")
    allocated = mock.n_alloc
    scale()[4, 32](x, 3.0)
    assert mock.n_alloc == allocated and mock.values[0] == x.ptr


def test_copies_keep_which_index_lies_side_by_side(mock: MockState) -> None:
    @cuda.jit("void(float32[::1,:])")
    def fill(out: Any) -> None:
        out[cuda.threadIdx.x, cuda.threadIdx.y] = 1

    mock.n_values = 4
    x = numpy.asfortranarray(numpy.arange(12, dtype="float32").reshape(3, 4))
    wanted = x.copy()
    fill[1, (3, 4)](x)
    assert (x == wanted).all()  # the mock computes nothing; what was copied out and back is the same


def test_small_grids_of_algorithms_are_not_the_users(mock: MockState) -> None:
    mock.n_values = 4
    x, out = tessera.zeros(100, "float32", "cuda"), tessera.zeros(1, "float32", "cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("error", cuda.errors.NumbaPerformanceWarning)
        compute.reduce_into(d_in=x, d_out=out, num_items=100, op=compute.OpKind.PLUS, h_init=numpy.float32(0))


def test_host_arrays_are_copied_in_and_out(mock: MockState) -> None:
    mock.n_values = 4
    x = numpy.arange(100, dtype="float32")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        scale()[128, 32](x, 3.0)
    assert [w.category for w in found] == [cuda.errors.NumbaPerformanceWarning]
    assert mock.values[0] not in (0, x.ctypes.data)
    assert (x == numpy.arange(100)).all()  # the mock computes nothing


@pytest.mark.parametrize(
    ("hint", "copies"), [(cuda.In, "in"), (cuda.Out, "out"), (cuda.InOut, "in out")], ids=["In", "Out", "InOut"]
)
def test_hints_say_which_way_arrays_are_copied(
    hint: Any, copies: str, mock: MockState, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, copy_of = [], _core.copy_of
    monkeypatch.setattr(_core, "copy_of", lambda *args: seen.append("in") or copy_of(*args))
    monkeypatch.setattr("tessera.cuda._arguments._copied_back", lambda array, value: seen.append("out"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scale()[128, 32](hint(numpy.arange(64, dtype="float32")), 3.0)
    assert " ".join(seen) == copies


def test_few_blocks_are_warned_of_once(mock: MockState, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = TextKernel(nothing, NOTHING)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        kernel[128, 1]()
        assert not found
        kernel[127, 1]()
        kernel[1, 1]()
        assert [str(w.message)[:13] for w in found] == ["Grid size 127"]
        monkeypatch.setattr(cuda.config, "CUDA_LOW_OCCUPANCY_WARNINGS", 0)
        TextKernel(nothing, NOTHING)[1, 1]()
    assert len(found) == 1


def test_named_and_default_arguments(mock: MockState) -> None:
    mock.n_values = 4
    x = tessera.zeros(10, "float32", "cuda")
    kernel = scale()
    kernel[1, 32](a=3.0, x=x)
    assert mock.values[0] == x.ptr


@pytest.mark.parametrize(
    ("config", "error", "text"),
    [
        ((1,), ValueError, "griddim and blockdim"),
        ((1, 2, 0, 0, 1, 1), ValueError, "at most the griddim, blockdim"),
        ((None, 1), ValueError, "griddim and blockdim"),
        (((1, 2, 3, 4), 1), ValueError, r"griddim must be a sequence of 1, 2 or 3 integers, got \[1, 2, 3, 4\]"),
        ((1, ()), ValueError, r"blockdim must be a sequence of 1, 2 or 3 integers, got \[\]"),
        ((2.0, 1), TypeError, r"griddim must be a sequence of integers, got \[2.0\]"),
        ((1, "ab"), TypeError, "blockdim must be a sequence of integers"),
        ((-1, 1), ValueError, "extent of -1"),
        ((1, 1 << 70), ValueError, "extent of"),
        ((1, 32, 0, -5), ValueError, "sharedmem"),
    ],
)
def test_bad_configurations(config: Any, error: type[Exception], text: str, mock: MockState) -> None:
    with pytest.raises(error, match=text):
        TextKernel(nothing, NOTHING)[config]


@pytest.mark.parametrize(
    ("block", "text"), [(1025, "at most 1024"), (0, "at least 1"), ((1, 1, 65), "64 along z")]
)
def test_bad_blocks(block: Any, text: str, mock: MockState) -> None:
    with pytest.raises(ValueError, match=text):
        TextKernel(nothing, NOTHING)[1, block]()


def test_bad_arguments(mock: MockState) -> None:
    x = numpy.zeros(4, "float32")
    with pytest.raises(TypeError, match="'x'"):
        scale()[1, 1](a=1.0)
    with pytest.raises(TypeError, match="'b'"):
        scale()[1, 1](x, b=1.0)
    with pytest.raises(TypeError, match="'x'"):
        scale()[1, 1](x, x=x)
    with pytest.raises(TypeError, match="a list cannot be passed"):
        scale()[1, 1]([1.0], 1.0)
    with pytest.raises(NotImplementedError, match="str cannot be passed"):
        scale()[1, 1]("text", 1.0)
    with pytest.raises(ValueError, match="launch configuration was not specified"):
        scale()(x, 1.0)


def test_forall_covers_all_tasks(mock: MockState) -> None:
    kernel, before = TextKernel(nothing, NOTHING), mock.n_launches
    kernel.forall(0)()
    assert mock.n_launches == before
    kernel.forall(1000)()
    assert mock.grid[0] * mock.block[0] >= 1000
    kernel.forall(1000, tpb=128)()
    assert launched(mock) == ((8, 1, 1), (128, 1, 1), 0)
    with pytest.raises(ValueError, match="negative task count"):
        kernel.forall(-1)


def test_overloads_are_recorded(mock: MockState) -> None:
    kernel = scale()
    x = tessera.zeros(10, "float32", "cuda")
    kernel[1, 32](x, 1.0)
    kernel[1, 32](x, 2.0)
    assert [str(args) for args in kernel.overloads] == ["(Array(float32, 1, 'C', False, aligned=True), float64)"]


def test_extensions_see_every_argument(mock: MockState) -> None:
    seen = []

    class Doubled:
        def prepare_args(self, ty: Any, val: Any, stream: Any, retr: Any) -> Any:
            seen.append(str(ty))
            return ty, val

    x = tessera.zeros(10, "float32", "cuda")
    scale(extensions=[Doubled()])[1, 32](x, 1.0)
    assert seen == ["array(float32, 1d, C)", "float64"]


# ---- other code ------------------------------------------------------------------------------------------

EXTERN = cuda.PTXSource(b"// PTX of the user", name="extern.ptx")
twice = cuda.declare_device("twice", "float32(float32)", link=EXTERN)


@cuda.jit
def calls_other_code(x):
    x[0] = twice(x[0]) + twice(x[1])


def test_other_code_is_linked_before_the_load(mock: MockState) -> None:
    x = tessera.zeros(4, "float32", "cuda")
    calls_other_code[1, 1](x)
    assert mock.code.decode() == "cubin of 1 main 1 extern.ptx"


def test_code_of_the_option_is_linked_too(mock: MockState, tmp_path: Any) -> None:
    path = tmp_path / "more.cubin"
    path.write_bytes(b"machine code")

    @cuda.jit(link=[str(path), EXTERN, EXTERN])
    def kernel(x):
        x[0] = twice(x[0])

    kernel[1, 1](tessera.zeros(4, "float32", "cuda"))
    assert mock.code.decode() == f"cubin of 1 main 0 {path} 1 extern.ptx"


def test_linking_that_fails_is_an_error_of_the_linker(mock: MockState, monkeypatch: pytest.MonkeyPatch) -> None:
    function = cuda.declare_device("other", "float32(float32)", link=cuda.LTOIR(b"ltoir", name="other.ltoir"))

    @cuda.jit
    def kernel(x):
        x[0] = function(x[0])

    with pytest.raises(cuda.errors.LinkerError, match="could not be linked with other.ltoir.*nvidia-nvjitlink"):
        kernel[1, 1](tessera.zeros(4, "float32", "cuda"))


@pytest.mark.parametrize(("carveout", "percent"), [("default", -1), ("maxl1", 0), ("MaxShared", 100), (30, 30)])
def test_the_carveout_reaches_the_driver(mock: MockState, carveout: Any, percent: int) -> None:
    @cuda.jit(shared_memory_carveout=carveout)
    def kernel(x):
        x[0] = percent

    mock.attr[9] = 77  # CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
    kernel[1, 1](tessera.zeros(4, "float32", "cuda"))
    assert mock.attr[9] == percent
