# SPDX-License-Identifier: Apache-2.0
"""Arguments by name and defaults of parameters, wherever a kernel takes arguments."""

import asyncio
import io
import itertools

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera import tileir, tune


@ct.kernel
def mixed(out, x, /, n: ct.Constant[int] = 5, *, scale=2.0, mode: ct.Constant = "a"):
    ct.scatter(out, 0, ct.astype(x + n * scale, ct.float32))
    ct.scatter(out, 1, 1 if mode == "a" else 2)


@ct.kernel
def plain(out, x, n):
    ct.scatter(out, 0, ct.astype(x * 10 + n, ct.float32))


def python_mixed(out, x, /, n=5, *, scale=2.0, mode="a"):
    out[:] = x + n * scale, 1 if mode == "a" else 2


CALLS = [
    ((1,), {}),
    ((1, 3), {}),
    ((1,), {"n": 3}),
    ((1,), {"scale": 0.5}),
    ((1, 7), {"mode": "b"}),
    ((1,), {"mode": "b", "scale": 4.0, "n": 0}),
]


def launched(kernel, args, named, size=2):
    out = np.zeros(size, np.float32)
    ct.launch(None, (1,), kernel, (out, *args), named)
    return out.tolist()


@pytest.mark.parametrize(("args", "named"), CALLS)
def test_every_way_to_launch_binds_as_python_does(args, named):
    wanted = np.zeros(2, np.float32)
    python_mixed(wanted, *args, **named)
    out = np.zeros((4, 2), np.float32)
    ct.launch(None, (1,), mixed, (out[0], *args), named)
    ct.launch(None, (1,), mixed, [out[1], *args], kwargs=named)
    mixed[1](out[2], *args, **named)
    asyncio.run(mixed.async_call(out[3], *args, grid=1, **named))
    assert out.tolist() == [wanted.tolist()] * 4


def test_a_launch_of_core_takes_defaults():
    from tessera.core import Device, LaunchConfig, launch

    @ct.kernel
    def kernel(out, n=7):
        ct.scatter(out, 0, n)

    out = tessera.zeros((1,), "int32", device="cpu")
    stream = Device("cpu").create_stream()
    launch(stream, LaunchConfig(grid=1, block=1), kernel, out)
    stream.sync()
    assert np.asarray(out).tolist() == [7]


def test_report_and_prepare():
    out = np.zeros(2, np.float32)
    assert mixed.report(out, 1, scale=3.0, grid=1)["total"]
    assert tessera.cost_report(mixed, (out, 1), 1, kwargs={"n": 2})["total"]
    assert tessera._core.prepare(None, mixed, (out, 1))["written"] == [True]
    assert tessera._core.prepare(None, mixed, (out, 1), {"mode": "b"})["written"] == [True]


REFUSED = [
    (plain, (1,), {}, r"takes 3 arguments \(out, x, n\), got 2: 'n' is missing"),
    (plain, (), {"n": 1}, r"takes 3 arguments \(out, x, n\), got 2: 'x' is missing"),
    (plain, (), {}, r".* got 1: 'x', 'n' are missing"),
    (plain, (1, 2, 3), {}, r"takes 3 arguments \(out, x, n\), got 4"),
    (plain, (1, 2, 3), {"n": 1}, r"takes 3 arguments \(out, x, n\), got 4"),
    (plain, (1, 2), {"n": 1}, "got 'n' twice, by position and by keyword"),
    (plain, (1,), {"m": 1}, "has no parameter 'm'; did you mean 'n'|has no parameter 'm'; it takes out, x, n"),
    (mixed, (1,), {"scal": 1}, "has no parameter 'scal'; did you mean 'scale'?"),
    (mixed, (), {"x": 1}, "takes 'x' by position only"),
    (mixed, (1, 2, 3.0), {}, r"takes 3 arguments \(out, x, n\) by position, got 4"),
    (plain, (1,), [("n", 1)], "kwargs is a list; give a dict"),
    (plain, (1,), {3: 1}, "has no parameter 3; it takes out, x, n"),
]


@pytest.mark.parametrize(("kernel", "args", "named", "text"), REFUSED)
def test_messages_name_the_argument(kernel, args, named, text):
    with pytest.raises(TypeError, match=f"kernel '{kernel.__name__}':? {text}"):
        launched(kernel, args, named)


def test_launch_itself_refuses():
    with pytest.raises(TypeError, match=r"launch\(\) has no argument named 'n'; give .* by name as launch\("):
        ct.launch(None, (1,), plain, (1,), n=3)
    with pytest.raises(TypeError, match="got 'kwargs' twice"):
        ct.launch(None, (1,), plain, (1,), {}, kwargs={})
    with pytest.raises(TypeError, match="4 or 5 positional arguments, not 3"):
        ct.launch(None, (1,), plain)
    with pytest.raises(TypeError, match="takes its arguments as a tuple, not as a int"):
        ct.launch(None, (1,), plain, 3, {"n": 1})


def test_kernels_of_ir_have_no_names():
    kernel = tileir.Kernel("k", "")
    with pytest.raises(TypeError, match="no names; give all arguments by position"):
        kernel._complete((), {"n": 1})


# ---- every split of arguments, against Python --------------------------------------------------------


@ct.kernel
def three(out, a, b=2, *, c=3):
    ct.scatter(out, 0, a * 100 + b * 10 + c)


def python_three(a, b=2, *, c=3):
    return a * 100 + b * 10 + c


@pytest.mark.parametrize("n", range(4))
def test_random_calls_agree_with_python(n):
    for names in itertools.chain.from_iterable(itertools.combinations("abcd", k) for k in range(4)):
        args, named = tuple(range(4, 4 + n)), {name: i + 7 for i, name in enumerate(names)}
        try:
            wanted = python_three(*args, **named)
        except TypeError:
            with pytest.raises(TypeError, match="kernel 'three'"):
                launched(three, args, named, 1)
            continue
        assert launched(three, args, named, 1) == [wanted]


# ---- the tuner, exported kernels -----------------------------------------------------------------------


@ct.kernel
def shifted(x, y, TN: ct.Constant[int], shift=1.0, *, by=1.0):
    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (TN,)) + shift * by)


def arrays(n=256):
    return np.arange(n, dtype=np.float32), np.zeros(n, np.float32)


def grid_of(config, x, *_):
    return (len(x) // config.TN,)


def test_tuned_kernels_take_names_and_defaults(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_CACHE_DIR", str(tmp_path))
    kernel = tune.Tuned(shifted, tune.Choices({"TN": [64, 128]}, grid_of))
    x, y = arrays()
    for args, named, shift in [((x, y), {}, 1), ((x, y, 3.0), {}, 3), ((x,), {"shift": 2.0, "y": y}, 2)]:
        kernel(*args, **named)
        assert (y == x + shift).all()
    result = kernel.tune(x, y=y, shift=4.0, quiet=True, rounds=2, seconds=0.1)
    assert result.best.config.TN in (64, 128)
    assert (y == x + 4).all()
    assert kernel.choice(x, y) == result.best.config
    assert kernel.report(x, y, shift=2.0, target="cpu")["total"]
    kernel.forget(x, y=y)
    for named, text in [({"TN": 3}, "got 'TN' by keyword, but the tuner chooses it"), ({"z": 3}, "no parameter 'z'")]:
        with pytest.raises(TypeError, match=f"kernel 'shifted' .*{text}"):
            kernel(x, y, **named)
    positional = tune.Tuned(shifted, tune.Choices({"TN": [64]}, grid_of, lambda c, x, y: (x, y, c.TN)))
    positional(x, y)
    assert (y == x + 1).all()
    with pytest.raises(TypeError, match="takes its arguments by position, .* found shift="):
        positional(x, y, shift=3)


def test_search_takes_defaults():
    x, y = arrays()
    tune.search(
        shifted, lambda c: (256 // c.TN,), lambda c: (x, y, c.TN), {"TN": [64]}, keep=False, quiet=True, seconds=0.1
    )
    assert (y == x + 1).all()


def test_exported_kernels_compile_defaults_in():
    from tessera.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, export_kernel

    array = ArrayConstraint(
        ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False
    )
    convention, texts = CallingConvention.cutile_python_v1(), []
    for parameters in ([array, array, 64], [array, array, 64, 1.0, 1.0]):
        file = io.BytesIO()
        signature = KernelSignature(parameters, convention)
        export_kernel(shifted, [signature], file, gpu_code="sm_80", output_format="ptx")
        texts.append(file.getvalue())
    assert texts[0] == texts[1]
    with pytest.raises(TypeError, match="has 5 parameters, the signature 2"):
        export_kernel(
            shifted, [KernelSignature([array, array], convention)], io.BytesIO(), gpu_code="sm_80", output_format="ptx"
        )
    x, y = arrays()
    by_name = KernelSignature.from_kernel_args(shifted, (x, y), convention, kernel_kwargs={"TN": 64})
    assert by_name == KernelSignature.from_kernel_args(shifted, (x, y, 64, 1.0), convention)
