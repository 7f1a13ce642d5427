# SPDX-License-Identifier: Apache-2.0
"""t[...] of tiles against NumPy: every slice of an axis, and random indices of several axes."""

import importlib.util
import pathlib
import random
import tempfile

import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, run


def is_pow2(n):
    return n > 0 and n & (n - 1) == 0


def check(x, cases, target=0, number=None):
    """Each index of `cases` (texts) gives what NumPy gives; `n` in them is a scalar of run time."""
    wanted = [eval(f"x[{case}]", {"x": x, "n": number}) for case in cases]
    sizes = [max(w.size, 1) for w in wanted]
    source = ["def kernel(x, y, n):", f"    t = ct.load(x, {(0,) * x.ndim}, {x.shape})"]
    for i, (case, size) in enumerate(zip(cases, sizes, strict=True)):
        source += [f"    a{i} = t[{case}]", f"    ct.static_assert(a{i}.shape == {wanted[i].shape})",
                   f"    ct.store(y, ({i}, 0), ct.reshape(a{i}, (1, {size})))"]  # fmt: skip
    y = np.zeros((len(cases), max(sizes)), x.dtype)
    with tempfile.TemporaryDirectory() as folder:
        run(compiled(source, folder), x, y, number or 0, target=target)
    for row, w in zip(y, wanted, strict=True):
        np.testing.assert_array_equal(row[: w.size], np.ravel(w))


def compiled(source, folder):
    """The kernel of the text, in a file of its own."""
    path = pathlib.Path(folder, "kernel.py")
    path.write_text("import tessera.tile as ct\n\n\n" + "\n".join(source) + "\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


@pytest.mark.parametrize("target", [0, 90])
def test_every_slice_of_an_axis(target):
    x = np.arange(8, dtype=np.int32)
    places = ["", *range(-9, 10)]
    cases = {}
    for step in ("", 2, 4, -1, -2, 8):
        for start in places:
            for stop in places:
                case = f"{start}:{stop}:{step}"
                found = eval(f"x[{case}]", {"x": x})
                if is_pow2(found.size) and case != "::":
                    cases.setdefault((step, *found.tolist()), case)
    check(x, list(cases.values()), target)


def random_index(rng, shape):
    """An index that keeps powers of two, as text."""
    parts = []
    for n in shape[: rng.randint(1, len(shape))]:
        while True:
            part = rng.choice([":", str(rng.randrange(-n, n)), "n", "-1", "..."] + [slice_text(rng, n)] * 3)
            if part == "..." and "..." in parts:
                continue
            break
        parts.append(part)
    for _ in range(rng.choice([0, 0, 1, 2])):
        parts.insert(rng.randint(0, len(parts)), "None")
    return ", ".join(parts)


def slice_text(rng, n):
    while True:
        s = slice(*(rng.choice([None, rng.randint(-n, n)]) for _ in range(2)), rng.choice([None, 1, 2, -1, -2, 4]))
        if is_pow2(len(range(n)[s])):
            return ":".join("" if v is None else str(v) for v in (s.start, s.stop, s.step))


def is_tile(x, case, n):
    """Whether it is an index of `x` that gives extents of powers of two, and not all of it."""
    try:
        return case not in (":", "...", "::", "::1") and all(map(is_pow2, eval(f"x[{case}]").shape))
    except IndexError:
        return False


@pytest.mark.parametrize("seed", range(12))
def test_random_indices(seed):
    rng = random.Random(seed)
    shape = rng.choice([(8,), (4, 8), (2, 4, 8), (16, 1, 2), (2, 2, 2, 4)])
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    number = rng.choice([0, -1, min(shape) - 1, -min(shape)])
    cases = [c for c in (random_index(rng, shape) for _ in range(30)) if is_tile(x, c, number)]
    check(x, cases, 90 if seed % 4 == 0 else 0, number)


def test_a_run_time_index_counts_from_the_end_when_negative():
    def kernel(x, y):
        t = ct.load(x, (0,), (8,))
        for i in range(-8, 8):
            ct.scatter(y, i + 8, t[i])

    x, y = np.arange(8, dtype=np.int32), np.zeros(16, np.int32)
    run(kernel, x, y)
    assert y.tolist() == [*range(8), *range(8)]


def test_too_many_pieces_are_refused():
    def kernel(x, y):
        ct.store(y, (0,), ct.load(x, (0,), (512,))[1:257])

    with pytest.raises(LowerError, match="is made of 256 pieces; the most are 64"):
        run(kernel, np.zeros(512, np.float32), np.zeros(256, np.float32))


def test_cat_of_one_tile_is_the_tile():
    def kernel(x, y):
        ct.store(y, (0,), ct.cat((ct.load(x, (0,), (4,)),), 0))

    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    run(kernel, x, y)
    assert y.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n", [9, -7, -1, 3])
def test_an_index_of_run_time_wraps_around_the_extent(n):
    def kernel(x, out, n):
        ct.scatter(out, 0, ct.load(x, (0,), (8,))[n])

    out = np.zeros(1, np.float32)
    run(kernel, np.arange(8, dtype=np.float32), out, n)
    assert out[0] == n % 8
