# SPDX-License-Identifier: Apache-2.0
"""Parts that groups of threads reduce: against NumPy, and with the bits of the CPU as they are made for a GPU."""

import numpy as np
import pytest
from compute_as_gpu import interpret
from long_form import unless_short

from tessera import compute
from tessera.compute import _part_reduce

N = 20_000
MIXES = {  # of classes of mean lengths, with parts that are longer than a group takes
    "ones": [1] * 3000, "threes": [3] * 2000, "middle": [300] * 50, "all in one": [N], "empty": [0] * 7,
    "one among empty": [0] * 300 + [9000] + [0] * 30, "few": [100, 0, 19000, 9],
    "long among ones": [1] * 900 + [700] + [1] * 300 + [4000], "many lengths": list(range(150)),
}  # fmt: skip


def reduced(x, lengths, op, init):
    cuts = np.minimum(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), len(x))
    out = np.full(len(lengths), 77, x.dtype)
    compute.segmented_reduce(
        d_in=x, d_out=out, num_segments=len(lengths), start_offsets_in=cuts[:-1], end_offsets_in=cuts[1:], op=op,
        h_init=init,
    )  # fmt: skip
    return out, [x[a:b] for a, b in zip(cuts, cuts[1:])]


@pytest.fixture
def rng(request):
    return np.random.default_rng(sum(map(ord, request.node.name)))


@pytest.mark.parametrize("kind", (np.int8, np.float16, np.complex64))
def test_sums_and_products(rng, kind):
    for lengths in (MIXES["few"], MIXES["many lengths"], MIXES["long among ones"]):
        x = rng.integers(0, 3, N).astype(kind)
        out, parts = reduced(x, lengths, compute.OpKind.PLUS, kind(1))
        wanted = np.array([part.sum(dtype=kind) for part in parts]) + kind(1)
        assert np.allclose(out, wanted, rtol=2e-2 if kind is np.float16 else 1e-6)
        ones = np.where(rng.random(N) < 1e-3, kind(2), kind(1))
        out, parts = reduced(ones, lengths, compute.OpKind.MULTIPLIES, kind(1))
        with np.errstate(over="ignore"):
            assert np.array_equal(out, [part.prod(dtype=kind) for part in parts])


def test_greatest_and_least(rng):
    x = rng.standard_normal(N).astype(np.float32)
    for lengths in MIXES.values():
        out, parts = reduced(x, lengths, compute.OpKind.MAXIMUM, np.float32(-9))
        assert out.tolist() == [max([-9, *part]) for part in parts]
        out, parts = reduced(x, lengths, compute.OpKind.MINIMUM, np.float32(9))
        assert out.tolist() == [min([9, *part]) for part in parts]


@pytest.mark.parametrize("schedule", unless_short((7,), (0,)))
@pytest.mark.parametrize("room", (None, 3))
def test_bits_of_a_gpu_are_those_of_a_cpu(rng, monkeypatch, schedule, room):
    """Also where the list has no room for the pieces of a part: a block takes them all then."""
    x, init, cpu = rng.random(N).astype(np.float32), np.float32(0.5), {}
    for name, lengths in MIXES.items():
        cpu[name], parts = reduced(x, lengths, compute.OpKind.PLUS, init)
        wanted = [part.sum(dtype=np.float64) + 0.5 for part in parts]
        assert np.allclose(cpu[name], wanted, rtol=1e-5), name
    interpret(monkeypatch, schedule)
    if room is not None:
        monkeypatch.setattr(_part_reduce, "_room", lambda plan, items: room)
    for name, lengths in MIXES.items():
        found, _ = reduced(x, lengths, compute.OpKind.PLUS, init)
        assert np.array_equal(found, cpu[name]), name


@pytest.mark.parametrize("on_gpu", (False, True))
def test_parts_may_overlap(rng, monkeypatch, on_gpu):
    """More items in all parts than there are items, so that the list is full."""
    if on_gpu:
        interpret(monkeypatch, 0)
    x, parts = rng.integers(0, 99, 3000), 40
    starts, ends = np.sort(rng.integers(0, 200, parts)), rng.integers(2500, 3001, parts)
    out = np.zeros(parts, np.int64)
    compute.segmented_reduce(
        d_in=x, d_out=out, num_segments=parts, start_offsets_in=starts, end_offsets_in=ends, op=compute.OpKind.PLUS,
        h_init=np.int64(3),
    )  # fmt: skip
    assert out.tolist() == [x[a:b].sum() + 3 for a, b in zip(starts, ends)]


@pytest.mark.parametrize("on_gpu", (False, True))
@pytest.mark.parametrize("op", (compute.OpKind.MAXIMUM, compute.OpKind.MINIMUM, max))
def test_nan_takes_no_number_with_it(rng, monkeypatch, op, on_gpu):
    """Wherever it stands among items, and whatever order groups take them in."""
    if on_gpu:
        interpret(monkeypatch, 0)
    best, init = (np.fmin, 9) if op is compute.OpKind.MINIMUM else (np.fmax, -9)
    x = rng.standard_normal(N).astype(np.float32)
    x[rng.random(N) < 0.4] = np.nan
    for lengths in ([400], MIXES["threes"], MIXES["few"], MIXES["long among ones"]):
        out, parts = reduced(x, lengths, op, np.float32(init))
        assert out.tolist() == [best.reduce(part, initial=np.float32(init)) for part in parts]
    out, _ = reduced(x[:4] * np.float32(np.nan), [4], op, np.float32(np.nan))
    assert np.isnan(out[0])


def test_list_is_zero_again(rng, monkeypatch):
    """As memory must be that is taken for counters."""
    taken = []

    def take(self, *needs, counters=1, take=_part_reduce.Memory.take):
        found = take(self, *needs, counters=counters)
        taken.extend(found[:counters])
        return found

    interpret(monkeypatch, 0)
    monkeypatch.setattr(_part_reduce.Memory, "take", take)
    reduced(rng.random(N).astype(np.float32), MIXES["long among ones"], compute.OpKind.PLUS, np.float32(0))
    assert len(taken) == 2
    assert not any(np.asarray(counters).any() for counters in taken)
