# SPDX-License-Identifier: Apache-2.0
"""nvmath's names: array code under ``jit`` is one kernel, batches move arrays once, signatures and mistakes."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core, nvmath
from tessera._run import _target

N = 100_000
X, Y = np.random.default_rng(5).uniform(0.5, 2, (2, N)).astype("f4")


def launched(compute):
    """What a function gives, and how many kernels were launched for it, copies of operands among them."""
    _core.numeric_flush()
    before = _core.numeric_stats()["launched"]
    made = compute()
    _core.numeric_flush()
    return made, _core.numeric_stats()["launched"] - before


@nvmath.jit
def mixed(x, y, scale=1.0):
    return nvmath.log(nvmath.exp(-(y**2)) * nvmath.sin(x) * scale + nvmath.sqrt(x + y) + 1)


def mixed_by_numpy(x, y, scale=1.0):
    x, y = x.astype(float), y.astype(float)
    return np.log(np.exp(-(y**2)) * np.sin(x) * scale + np.sqrt(x + y) + 1)


def test_a_chain_under_jit_is_one_kernel_with_what_follows():
    x, y = tn.array(X), tn.array(Y)
    made, kernels = launched(lambda: mixed(x, y))
    assert kernels == 1 and type(made) is tn.ndarray and made.dtype == "f4"
    np.testing.assert_allclose(np.asarray(made), mixed_by_numpy(X, Y), rtol=1e-5)
    made, kernels = launched(lambda: nvmath.abs(mixed(X, y=Y, scale=3) - 1))
    assert kernels == 2 + 1
    np.testing.assert_allclose(np.asarray(made), abs(mixed_by_numpy(X, Y, 3) - 1), rtol=1e-5, atol=1e-6)


def test_jit_copies_other_libraries_arrays_and_nothing_else():
    seen = []

    @nvmath.jit()
    def note(*args, **options):
        """What it says."""
        seen[:] = [*args, *options.values()]
        args[0][0] = 9

    mine, theirs = tn.ones(3), np.ones(3)
    note(theirs, mine, 2, [3], x=theirs)
    assert [type(each) for each in seen] == [tn.ndarray, tn.ndarray, int, list, tn.ndarray]
    assert seen[1] is mine and theirs[0] == 1 and seen[0][0] == 9
    assert note.__name__ == "note" and note.__doc__ == "What it says."


def test_a_jitted_method_and_later_writes_to_its_argument():
    class Model:
        @nvmath.jit
        def twice(self, x):
            return x * 2

    x = X.copy()
    made = Model().twice(x)
    x[:] = 0  # after the call; the result waits
    np.testing.assert_array_equal(np.asarray(made), X * 2)


def test_a_batch_gives_results_in_order_from_arrays_that_moved_once():
    given = []

    def keep(x, y):
        given.append((x, y))
        return x * 2 + y

    results, kernels = launched(lambda: nvmath.batch_process([keep, lambda x, y: x * y - 1, keep], X, Y))
    assert kernels == 2 + 1 and len(results) == 3 and given[0][0] is given[1][0] and given[0][1] is given[1][1]
    for made, wanted in zip(results, (X * 2 + Y, X * Y - 1, X * 2 + Y), strict=True):
        np.testing.assert_array_equal(np.asarray(made), wanted)


def test_a_batch_of_a_chain_a_spectrum_and_a_factorization():
    x = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    chain, spectrum, (u, s, vh) = nvmath.batch_process(
        [lambda x: mixed(x, x), nvmath.fft.fft, lambda x: nvmath.linalg.svd(x[:, None], full_matrices=False)], x
    )
    np.testing.assert_allclose(np.asarray(chain), mixed_by_numpy(x, x))
    np.testing.assert_allclose(np.asarray(spectrum), np.fft.fft(x))
    np.testing.assert_allclose(np.asarray((u * s) @ vh)[:, 0], x)
    assert nvmath.batch_process([], x) == []


def test_a_system_is_solved_in_the_block_of_the_tuner():
    a, b = nvmath.random.normal(0, 1, (40, 40)), nvmath.random.normal(0, 1, (40, 7))
    with nvmath.optimization.auto_tune() as nothing:
        left = a @ a.T + nvmath.eye(40)
        x = nvmath.linalg.solve(left, b)
    assert nothing is None and x.shape == (40, 7)
    np.testing.assert_allclose(np.asarray(left) @ np.asarray(x), np.asarray(b), atol=1e-9)


def test_transforms_go_along_all_axes_and_inverses_are_not_divided():
    z = X[:24].reshape(4, 6) + 1j * Y[:24].reshape(4, 6)
    fft = nvmath.fft
    np.testing.assert_allclose(np.asarray(fft.fft(z)), np.fft.fftn(z), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(fft.fft(z, axes=[-1], execution="cpu")), np.fft.fft(z), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(fft.ifft(fft.fft(z))), z * 24, rtol=1e-5)
    np.testing.assert_array_equal(np.asarray(fft.fft(z, direction="inverse")), np.asarray(fft.ifft(z)))
    np.testing.assert_array_equal(np.asarray(fft.ifft(z, direction=fft.FFTDirection.FORWARD)), np.asarray(fft.fft(z)))
    for n, parity in ((6, "even"), (5, "odd")):
        x = X[: 4 * n].reshape(4, n)
        half = fft.rfft(x)
        np.testing.assert_allclose(np.asarray(half), np.fft.rfftn(x), rtol=1e-4, atol=1e-5)
        back = fft.irfft(half, options={"last_axis_parity": parity})
        np.testing.assert_allclose(np.asarray(back), x * x.size, rtol=1e-5)
    assert fft.irfft(half, axes=(0,)).shape == (6, 3) and fft.fft(X[:8]).dtype == "c8"


def test_products_take_factors_and_an_addend():
    a, b, c = X[:12].reshape(3, 4), Y[:8].reshape(4, 2), X[:6].reshape(3, 2)
    for matmul in (nvmath.linalg.matmul, nvmath.linalg.advanced.matmul):
        np.testing.assert_allclose(np.asarray(matmul(a, b)), a @ b, rtol=1e-5)
        for addend in (c, tn.array(c), c[:, :1]):
            made = matmul(tn.array(a), b, addend, alpha=0.5, beta=2)
            assert made.dtype == "f4"
            np.testing.assert_allclose(np.asarray(made), 0.5 * (a @ b) + 2 * np.asarray(addend), rtol=1e-5)
    assert nvmath.linalg.matmul(a, b, execution="cpu").shape == (3, 2)


def test_names_are_those_of_our_arrays():
    assert nvmath.sin is tn.sin and nvmath.random is tn.random and nvmath.linalg.solve is tn.linalg.solve
    assert {"jit", "sin", "float32", "fft", "random"} < set(dir(nvmath)) and "device" not in dir(nvmath)
    assert {"matmul", "advanced", "svd"} < set(dir(nvmath.linalg)) and "fft" in dir(nvmath.fft)
    assert _target("nvmath.linalg.advanced") == "tessera.nvmath.linalg.advanced"
    assert _target("nvmath.random") == "tessera.numeric.random"


@pytest.mark.parametrize(
    "function, names",
    [
        ("fft.fft", "operand axes direction options execution prolog epilog stream"),
        ("fft.ifft", "operand axes direction options execution prolog epilog stream"),
        ("fft.rfft", "operand axes options execution prolog epilog stream"),
        ("fft.irfft", "operand axes options execution prolog epilog stream"),
        ("linalg.matmul", "a b c alpha beta qualifiers options execution stream"),
        (
            "linalg.advanced.matmul",
            "a b c alpha beta epilog epilog_inputs qualifiers quantization_scales options preferences algorithm stream",
        ),
    ],
)
def test_signatures_are_the_originals_and_what_is_not_taken_says_so(function, names):
    called = nvmath
    for name in function.split("."):
        called = getattr(called, name)
    parameters = inspect.signature(called).parameters
    assert [*parameters] == names.split()
    operands = [tn.ones((2, 2)) for kind in parameters.values() if kind.kind is kind.POSITIONAL_ONLY]
    for name, kind in parameters.items():
        if kind.kind is kind.KEYWORD_ONLY and name not in ("axes", "direction", "alpha", "beta"):
            with pytest.raises(NotImplementedError, match=rf"^nvmath\.{function}: {name}='x' is not taken; .*\w"):
                called(*operands, **{name: "x"})


ONES = np.ones((2, 2))
MISTAKES = {
    "a function is wanted, found int; write @nvmath.jit": lambda: nvmath.jit(3),
    "MaskedArray would lose its meaning .* tessera.numeric.ma": lambda: mixed(np.ma.masked_array([1.0]), X),
    "matrix would lose its meaning": lambda: nvmath.batch_process([abs], ONES.view(np.matrix)),
    "a list of functions comes first, then the arrays; found function": lambda: nvmath.batch_process(lambda x: x, X),
    "a list of functions comes first, then the arrays; found int": lambda: nvmath.batch_process(3, X),
    r"functions\[1\] is no function, found str": lambda: nvmath.batch_process([abs, "abs"], X),
    "at least one axis is wanted, found axes=None of an operand with 0": lambda: nvmath.fft.fft(1.0),
    "at least one axis is wanted, found axes=": lambda: nvmath.fft.rfft(X, axes=()),
    "axis 2 is out of bounds for array of dimension 2": lambda: nvmath.fft.irfft(ONES, axes=(2,)),
    "repeated axis": lambda: nvmath.fft.fft(ONES, axes=(1, -1)),
    'direction is "forward" or "inverse", found \'back\'': lambda: nvmath.fft.fft(X, direction="back"),
    "transform of real numbers cannot take complex64": lambda: nvmath.fft.rfft(X + 1j),
    'last_axis_parity is "even" or "odd", found 3': lambda: nvmath.fft.irfft(X, options={"last_axis_parity": 3}),
    "c is given without beta": lambda: nvmath.linalg.matmul(ONES, ONES, ONES),
    "beta is given without c": lambda: nvmath.linalg.matmul(ONES, ONES, beta=1),
    r"c of shape \(2,\) needs as many axes": lambda: nvmath.linalg.advanced.matmul(ONES, ONES, ONES[0], beta=1),
    "execution='cuda' is not taken; a product": lambda: nvmath.linalg.matmul(ONES, ONES, execution="cuda"),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_name_what_was_found_and_wanted(text):
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=text):
        MISTAKES[text]()


@pytest.mark.parametrize(
    "module, name, text",
    [
        (nvmath, "tensor", "nvmath.einsum and nvmath.tensordot contract arrays"),
        (nvmath, "device", "kernels are written with tessera.tile or tessera.cuda"),
        (nvmath, "batch_proces", "'nvmath' has no attribute 'batch_proces'; did you mean 'batch_process'"),
        (nvmath.fft, "ifftn", "use tessera.numeric.fft.ifftn"),
        (nvmath.fft, "FFT", "it has FFTDirection, fft, "),
        (nvmath.linalg, "direct_solver", r"use nvmath.linalg.solve\(a, b\)"),
        (nvmath.linalg, "slove", "did you mean 'solve'"),
    ],
)
def test_a_missing_name_has_a_way_out(module, name, text):
    with pytest.raises(AttributeError, match=text):
        getattr(module, name)
