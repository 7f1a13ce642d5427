# SPDX-License-Identifier: Apache-2.0
"""The tuner on the CPU device: spaces, checks, failures, what is kept on disk, interruption."""

import concurrent.futures
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera import tune
from tessera.tile._kernel import _HINTS
from tessera.tune import _arrays, _search, _store, _time
from tessera.tune._trial import Trials

FAST = {"rounds": 5, "seconds": 0.2, "quiet": True}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def grid_of(c, a, b, out):
    return ct.cdiv(out.shape[0], c.TM), ct.cdiv(out.shape[1], c.TN)


def product_body(a, b, out, TM, TN, TK):
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(ct.bid(0), k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, ct.bid(1)), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(out, index=(ct.bid(0), ct.bid(1)), tile=acc)


SPACE = {"TM": [16, 32], "TN": [32, 64], "TK": [32]}


def fresh_product():
    @ct.kernel(tuned=tune.Choices(space=SPACE, grid=grid_of))
    def product(a, b, out, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
        product_body(a, b, out, TM, TN, TK)

    return product


@ct.kernel
def scale_kernel(x, out, TILE: ct.Constant[int], FACTOR: ct.Constant[int]):
    ct.store(out, index=(ct.bid(0),), tile=ct.load(x, index=(ct.bid(0),), shape=(TILE,)) * FACTOR)


@ct.kernel
def softmax_kernel(x, out, ROWS: ct.Constant[int], COLS: ct.Constant[int]):
    t = ct.load(x, index=(ct.bid(0), 0), shape=(ROWS, COLS), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(t - ct.max(t, axis=1, keepdims=True))
    ct.store(out, index=(ct.bid(0), 0), tile=e / ct.sum(e, axis=1, keepdims=True))


def operands(n=96):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    return a, b, np.full((n, n), np.nan, np.float32)


def scale_search(configs, x=None, **options):
    x = np.arange(1024, dtype=np.float32) if x is None else x
    out = np.full_like(x, np.nan)
    result = tune.search(
        scale_kernel,
        lambda c: (1024 // c[0],),
        lambda c: (x, out, *c),
        configs,
        **{**FAST, **options},
    )
    return result, out


# ---- searching ------------------------------------------------------------------------------------------


def test_a_product_is_tuned_and_stays_right():
    product = fresh_product()
    a, b, out = operands()
    result = product.tune(a, b, out, **FAST)
    assert result.checked and not result.failures and len(result.successes) == 4
    assert result.best.config in product.configs and result.best.mean_us > 0
    np.testing.assert_allclose(out, a @ b, atol=1e-3)
    out[:] = np.nan
    product(a, b, out)
    np.testing.assert_allclose(out, a @ b, atol=1e-3)


def test_softmax_over_rows_a_block():
    x = np.random.default_rng(2).standard_normal((64, 100)).astype(np.float32)
    out = np.full_like(x, np.nan)
    result = tune.search(softmax_kernel, lambda c: (64 // c.ROWS,), lambda c: (x, out, c.ROWS, 128),
                         {"ROWS": [1, 2, 4, 8]}, **FAST)  # fmt: skip
    assert len(result.successes) == 4 and "4 succeeded" in result.summary()
    (best,) = re.findall(r"^\*.* (Config.*)$", result.summary(), re.MULTILINE)
    assert best == repr(result.best.config)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


def test_hints_are_items_of_a_configuration():
    x = np.ones(64, np.float32)
    seen = []

    def args(c):
        seen.append(c)
        return x, np.empty_like(x), 64, 2

    result = tune.search(
        scale_kernel, lambda c: (1,), args, {"num_stages": [2, 3], "opt_level": [3]}, **FAST
    )
    assert len(result.successes) == 2 and seen[0].num_stages == 2
    bad = tune.search(scale_kernel, lambda c: (1,), args, {"num_stages": [2, 99]}, **FAST)
    assert [f[1] for f in bad.failures] == [ValueError] and "num_stages" in bad.failures[0][2]


@dataclasses.dataclass(frozen=True)
class Point:
    tile: int


def test_configurations_may_be_any_objects():
    x = np.arange(256, dtype=np.float32)
    out = np.empty_like(x)
    result = tune.search(lambda c: scale_kernel.replace_hints(opt_level=2), lambda c: 256 // c.tile,
                         lambda c: (x, out, c.tile, 3), [Point(64), Point(128), Point(64)], **FAST)  # fmt: skip
    assert [m.config for m in result.successes] == [Point(64), Point(128)]
    np.testing.assert_array_equal(out, 3 * x)


def test_a_wrong_variant_cannot_win():
    result, out = scale_search([(256, 2), (512, 2), (1024, 3)])
    assert [f[0] for f in result.failures] == [
        (1024, 3)
    ] and "wrong result: output 0" in result.failures[0][2]
    np.testing.assert_array_equal(out, 2 * np.arange(1024))


def test_when_most_disagree_with_the_first_the_search_says_so():
    with pytest.raises(RuntimeError, match="2 of 3 variants do not agree with the first"):
        scale_search([(256, 3), (512, 2), (1024, 2)])


def test_a_reference_decides():
    x = np.arange(1024, dtype=np.float32)
    out = np.empty_like(x)
    result = tune.search(scale_kernel, lambda c: (1024 // c[0],), lambda c: (x, out, *c),
        [(256, 3), (512, 3), (1024, 2)],
                         reference=lambda: np.multiply(x, 2, out=out), **FAST)  # fmt: skip
    assert result.best.config == (1024, 2) and len(result.failures) == 2


def test_in_place_kernels_start_from_what_was_there():
    x = np.arange(1024, dtype=np.float32)
    before = x.copy()
    tune.search(
        scale_kernel, lambda c: (1024 // c[0],), lambda c: (x, x, *c), [(256, 2), (512, 2)], **FAST
    )
    np.testing.assert_array_equal(x, 2 * before)


def test_arrays_of_the_library_are_read_back():
    x, out = tessera.asarray(np.arange(1024, dtype=np.float32)), tessera.zeros(1024, "bfloat16")
    kernel = ct.kernel(lambda_free_cast)
    result = tune.search(kernel, lambda c: (1024 // c,), lambda c: (x, out, c), [128, 256], **FAST)
    assert result.checked and len(result.successes) == 2


def lambda_free_cast(x, out, TILE: ct.Constant[int]):
    ct.store(
        out,
        index=(ct.bid(0),),
        tile=ct.astype(ct.load(x, index=(ct.bid(0),), shape=(TILE,)), ct.bfloat16),
    )


def test_agreement_allows_other_orders_of_summation_only():
    x = np.array([1.0, -4.0], np.float32)
    assert _arrays.agree([x], [x.copy()], ["float32"], None) == ""
    assert _arrays.agree([x * (1 + 1e-6)], [x], ["float32"], None) == ""
    assert "0.4" in _arrays.agree([x * 1.1], [x], ["float32"], None)
    assert _arrays.agree([x * 1.1], [x], ["float32"], 0.2) == ""
    nan = np.array([np.nan, 1.0], np.float32)
    assert _arrays.agree([nan], [nan.copy()], ["float32"], None) == ""
    assert _arrays.agree([nan], [np.array([0.0, 1.0], np.float32)], ["float32"], None)
    assert _arrays.agree(
        [np.array([np.inf], np.float32)], [np.array([1.0], np.float32)], ["float32"], None
    )
    assert "1 elements" in _arrays.agree([np.array([1, 2])], [np.array([1, 3])], ["int64"], None)


# ---- what goes wrong ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", [{}, [], {"TM": []}])
def test_an_empty_space_is_refused(space):
    if space == {}:
        assert tune._space.expand(space) == [{}]  # one configuration without items
        return
    with pytest.raises(ValueError, match="the search space is empty"):
        scale_search(space)


def test_a_space_must_be_iterable():
    with pytest.raises(TypeError, match="not a int"):
        scale_search(3)


def test_when_nothing_compiles_the_first_reason_is_told():
    with pytest.raises(
        RuntimeError, match="(?s)none of the 2 configurations could be run.*power of two"
    ):
        scale_search([(100, 2), (200, 2)])


def test_what_fails_is_listed_and_the_rest_goes_on():
    result, _ = scale_search([(100, 2), (256, 2)])
    assert result.best.config == (256, 2)
    ((config, kind, text),) = result.failures
    assert config == (100, 2) and kind is ct.TileTypeError and "power of two" in text
    assert "1 succeeded, 1 failed" in result.summary()


def test_a_run_that_takes_too_long_has_failed():
    with pytest.raises(RuntimeError, match="TimeoutError: one run took"):
        scale_search([(256, 2)], limit_s=0.0)


def test_a_limit_of_years_is_none():
    result, _ = scale_search([(256, 2)], limit_s=1e10)
    assert result.best.config == (256, 2)


def test_wrong_arguments_name_what_is_wanted():
    product = fresh_product()
    a, b, out = operands(32)
    with pytest.raises(
        TypeError, match=r"wants 3 arguments beside its tuned constants \(a, b, out\), not 2"
    ):
        product(a, b)


def test_a_misspelt_name_of_the_space_gets_a_suggestion():
    kernel = fresh_product().kernel
    choices = tune.Choices({"TMM": [16], "TN": [16], "TK": [16]}, grid=lambda c, *args: (1,))
    with pytest.raises(TypeError, match="'TMM' of the configuration is no .*; did you mean 'TM'"):
        tune.Tuned(kernel, choices)(*operands(32))


def test_launching_a_tuned_kernel_says_to_call_it():
    with pytest.raises(TypeError, match="not a Tuned; call it with its arguments"):
        ct.launch(None, (1,), fresh_product(), operands(32))


def interrupting(times):
    """A clock hook that presses Ctrl-C at the n-th sample."""
    count = {"n": 0}
    once = _time.Clock.once

    def pressed(self, candidate):
        count["n"] += 1
        if count["n"] == times:
            raise KeyboardInterrupt
        return once(self, candidate)

    return pressed


def test_ctrl_c_keeps_what_is_known(monkeypatch):
    monkeypatch.setattr(_time.Clock, "once", interrupting(8))
    result, out = scale_search([(256, 2), (512, 2)])
    assert result.interrupted and result.best.num_samples >= 1
    np.testing.assert_array_equal(out, 2 * np.arange(1024))


def test_ctrl_c_before_anything_is_known_is_ctrl_c(monkeypatch):
    monkeypatch.setattr(_time.Clock, "once", interrupting(1))
    with pytest.raises(KeyboardInterrupt):
        scale_search([(256, 2), (512, 2)])


# ---- racing ------------------------------------------------------------------------------------------------


class FakeClock:
    def __init__(self, times):
        self.times = times

    def once(self, candidate):
        return self.times[candidate.config]()


def test_those_far_behind_are_dropped_and_cannot_win():
    fast, slow = _time.Candidate("fast", None), _time.Candidate("slow", None)
    _time.race(
        [fast, slow], FakeClock({"fast": lambda: 10.0, "slow": lambda: 30.0}), rounds=20, seconds=60
    )
    assert len(slow.times) == 3 and not slow.finalist and fast.finalist
    assert len(fast.times) >= 5


def test_equals_run_until_they_are_known():
    import itertools

    noise = itertools.cycle([10.0, 14.0, 9.0, 13.0])
    pair = [_time.Candidate(i, None) for i in range(2)]
    _time.race(
        pair, FakeClock({0: lambda: next(noise), 1: lambda: next(noise)}), rounds=12, seconds=60
    )
    assert [len(c.times) for c in pair] == [12, 12]


# ---- what is kept ------------------------------------------------------------------------------------------


def entries(cache):
    return sorted((cache / "tune").glob("*.json"))


def test_the_best_is_kept_and_found_again(cache):
    product = fresh_product()
    a, b, out = operands()
    assert product.choice(a, b, out) == product.default
    result = product.tune(a, b, out, **FAST)
    assert len(entries(cache)) == 1
    again = fresh_product()
    assert again.choice(a, b, out) == result.best.config
    assert tune.best(product.kernel, (a, b, out)) == repr(result.best.config)
    assert again.choice(*operands(95)) == result.best.config  # the same class
    assert again.choice(*operands(300)) == again.default  # another
    again.forget(a, b, out)
    assert again.choice(a, b, out) == again.default and not entries(cache)


def test_shape_classes():
    a = np.zeros((96, 100), np.float32)
    assert _arrays.shape_class((a,)) == _arrays.shape_class((np.zeros((65, 128), np.float32), 3))
    others = [
        a.astype(np.float64),
        np.zeros((96, 100), np.float32, order="F"),
        np.zeros((129, 100), np.float32),
    ]
    assert all(_arrays.shape_class((o,)) != _arrays.shape_class((a,)) for o in others)
    assert _arrays.shape_class(([a, a], (a, 1.0))) == " ".join([_arrays.shape_class((a,))] * 3)


def test_scalars_are_no_arrays():
    assert _arrays.array_args((np.float32(1), True, 2, "x", 1.5, None)) == []


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"{}", b'{"entry": 3}', b"\xff\xfe"])
def test_damaged_entries_are_as_if_absent(cache, damage):
    product = fresh_product()
    a, b, out = operands()
    product.tune(a, b, out, **FAST)
    entries(cache)[0].write_bytes(damage)
    assert fresh_product().choice(a, b, out) == product.default


def test_a_changed_entry_is_not_believed(cache):
    product = fresh_product()
    a, b, out = operands()
    product.tune(a, b, out, **FAST)
    file = entries(cache)[0]
    found = json.loads(file.read_text())
    found["entry"]["config"] = repr(product.configs[-1])
    file.write_text(json.dumps(found))
    assert fresh_product().choice(a, b, out) == product.default


def test_an_entry_that_left_the_space_is_not_used():
    product = fresh_product()
    a, b, out = operands()
    key = product._key("cpu", _arrays.shape_class((a, b, out)))
    _store.save(key, {"config": "Config(TM=999, TN=1, TK=1)", "mean_us": 1.0})
    assert fresh_product().choice(a, b, out) == product.default


def test_another_kernel_has_other_entries():
    a, b, out = operands()
    kept = fresh_product()
    kept.tune(a, b, out, **FAST)

    @ct.kernel(tuned=tune.Choices(space=SPACE, grid=grid_of))
    def product(a, b, out, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
        product_body(b, a, out, TM, TN, TK)

    assert product._key("cpu", "") != kept._key("cpu", "")


def test_a_folder_that_cannot_be_written_is_no_error(cache, monkeypatch):
    cache.parent.mkdir(exist_ok=True)
    cache.write_text("a file, not a folder")
    result, _ = scale_search([(256, 2)])
    assert result.best.config == (256, 2)


def test_without_a_cache_results_live_in_the_process(monkeypatch):
    monkeypatch.setenv("TESSERA_CACHE_DIR", "off")
    product = fresh_product()
    a, b, out = operands()
    best = product.tune(a, b, out, **FAST).best.config
    assert fresh_product().choice(a, b, out) == best


def test_two_processes_may_tune_at_once(cache, tmp_path):
    script = tmp_path / "both.py"
    script.write_text(
        textwrap.dedent("""
        import numpy as np, tessera.tile as ct
        from tessera import tune
        @ct.kernel
        def scale(x, out, TILE: ct.Constant[int]):
            ct.store(out, index=(ct.bid(0),), tile=ct.load(x, index=(ct.bid(0),), shape=(TILE,)) * 2)
        x = np.ones(1024, np.float32); out = np.empty_like(x)
        for _ in range(5):
            tune.search(scale, lambda c: (1024 // c.TILE,), lambda c: (x, out, c.TILE), {"TILE": [256, 512]},
                        rounds=3, seconds=0.05, quiet=True)
        print(tune.best(scale, (x, out)))
    """)
    )
    both = [
        subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    texts = [p.communicate()[0] for p in both]
    assert [p.returncode for p in both] == [0, 0] and all("TILE=" in t for t in texts)
    assert len(entries(cache)) == 1 and not list((cache / "tune").glob("tmp.*"))


# ---- the peer's form ---------------------------------------------------------------------------------------


def test_exhaustive_search_has_the_peers_form():
    x = np.arange(1024, dtype=np.float32)
    out = np.empty_like(x)
    result = ct.tune.exhaustive_search(
        [64, 100, 256], None, lambda c: (1024 // c,), scale_kernel, lambda c: (x, out, c, 2),
        lambda c: {"occupancy": 2}, quiet=True, single_run_timeout_sec=60,
    )  # fmt: skip
    assert result.best.config in (64, 256) and [m.config for m in result.successes] == [64, 256]
    assert result.best.num_samples >= 5 and result.best.error_margin_us >= 0
    assert result.failures[0][:2] == (100, ct.TileTypeError)
    assert result.best.mean_us <= 5 * max(m.mean_us for m in result.successes)


def test_exhaustive_search_gives_the_very_objects_and_prints(capsys):
    x = np.arange(1024, dtype=np.float32)
    space = [{"tile": 64, "num_stages": 3}, {"tile": 64, "num_stages": 3}]
    out = np.empty_like(x)
    result = ct.tune.exhaustive_search(
        space, None, lambda c: (1024 // c["tile"],), scale_kernel, lambda c: (x, out, c["tile"], 2), flush_l2=False
    )
    assert len(result.successes) == 2 and any(result.best.config is c for c in space)
    assert capsys.readouterr().out.startswith("2 succeeded, 0 failed\n") and str(result) == result.summary()


def test_exhaustive_search_without_a_configuration_that_runs():
    x = np.arange(1024, dtype=np.float32)
    for space, text in (([], "empty"), ([100], "none of the 1 configurations")):
        with pytest.raises(ValueError, match=text):
            ct.tune.exhaustive_search(space, None, lambda c: (1,), scale_kernel, lambda c: (x, x, c, 2))


def test_the_peers_module_name_works(tmp_path):
    script = tmp_path / "peer.py"
    script.write_text("import cuda.tile as ct, cuda.tile.tune, tessera.tile.tune\n"
                      "assert ct.tune is cuda.tile.tune is tessera.tile.tune\nprint('same')\n")  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "tessera", "run", str(script)], capture_output=True, text=True
    )
    assert done.stdout == "same\n", done.stderr


def test_a_tuned_kernel_reports_the_chosen_configuration():
    product = fresh_product()
    report = product.report(*operands(), target="sm_90")
    assert report["grid"] == (6, 3, 1) and report["total"]["f32"] == 2 * 96**3


def test_the_folder_of_results_is_the_caches(cache):
    assert pathlib.Path(_store._path("key")).parent == cache / "tune"


def test_the_key_of_a_launch_is_cheap_and_exact():
    from tessera.tune._tuned import _fast_key

    a = np.zeros((4, 6), np.float32)
    assert _fast_key((a, 1)) == _fast_key((np.ones((4, 6), np.float32), 2))
    for other in (a.T, a[:, :4], a.astype(np.float64), [a]):
        assert _fast_key((other, 1)) != _fast_key((a, 1))


# ---- limits of time ------------------------------------------------------------------------------------------


@ct.kernel
def spin_kernel(x, out):
    while ct.gather(x, 0) != 0:
        ct.atomic_add(out, 0, 1)


@ct.kernel
def count_kernel(x, out):
    for k in range(ct.gather(x, 0)):
        ct.atomic_add(out, k % 2, 1)


def limited(kernel, check):
    numbers = lambda c: (np.full(1, c, np.int32), np.zeros(2, np.int32))
    args = {c: numbers(c) for c in (0, 2**31 - 1)}
    return tune.search(
        kernel, lambda c: (1,), args.get, list(args), hints_fn=lambda c: {}, check=check,
        limit_s=0.3, keep=False, quiet=True, rounds=5,
    )  # fmt: skip


@pytest.mark.parametrize("kernel", [spin_kernel, count_kernel])
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("in_main_thread", [True, False])
def test_a_configuration_that_does_not_end_is_stopped(kernel, check, in_main_thread):
    """Also a long `for`; in any thread; what other streams do goes on."""
    stream, done = tessera.Stream("cpu"), tessera.zeros(2, "int32")
    flag = tessera.asarray(np.ones(1, np.int32))
    ct.launch(stream, (1,), spin_kernel, (flag, done))
    if in_main_thread:
        result = limited(kernel, check)
    else:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            result = pool.submit(limited, kernel, check).result()
    assert result.best.config == 0
    assert result.failures == [(2**31 - 1, TimeoutError, "one run did not end within 0.3 s")]
    assert not stream.done
    np.asarray(flag)[0] = 0
    stream.synchronize()


@pytest.mark.parametrize("kernel", [spin_kernel, count_kernel])
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("stream", ["none", "given"])
def test_seconds_bound_a_variant_that_does_not_end(kernel, check, stream):
    args = {c: (np.full(1, c, np.int32), np.zeros(2, np.int32)) for c in (0, 2**31 - 1)}
    stream = tessera.Stream("cpu") if stream == "given" else None
    result = tune.search(
        kernel, lambda c: (1,), args.get, list(args), hints_fn=lambda c: {}, check=check,
        stream=stream, seconds=0.1, keep=False, quiet=True, rounds=5,
    )  # fmt: skip
    assert result.best.config == 0
    ((config, kind, text),) = result.failures
    assert (config, kind) == (2**31 - 1, TimeoutError)
    assert text == "one run did not end within 1 s; `seconds` or `limit_s` gives it more"


BAD = [0, -1, float("nan"), float("inf"), True, "5", None]


@pytest.mark.parametrize("value", BAD)
def test_seconds_that_mean_nothing_are_refused(value):
    text = re.escape(f"seconds is {value!r}, wanted a finite number above 0")
    with pytest.raises((ValueError, TypeError), match=text):
        scale_search([(256, 2)], seconds=value)


@pytest.mark.parametrize(
    "name,value",
    [("rounds", 0), ("rounds", 2.5), ("rounds", True), ("threads", -1), ("threads", "2"), ("limit_s", -1),
     ("limit_s", float("nan")), ("limit_s", "1"), ("limit_s", False)],
)  # fmt: skip
def test_other_numbers_that_mean_nothing_are_refused(name, value):
    with pytest.raises((ValueError, TypeError), match=re.escape(f"{name} is {value!r}, wanted a")):
        scale_search([(256, 2)], **{name: value})


@pytest.mark.parametrize("value", [0, -1, float("nan"), "1", True])
def test_a_timeout_that_means_nothing_is_refused(value):
    text = re.escape(f"single_run_timeout_sec is {value!r}, wanted a number above 0")
    with pytest.raises((ValueError, TypeError), match=text):
        tune.exhaustive_search(
            [1], None, lambda c: (1,), spin_kernel, lambda c: (), single_run_timeout_sec=value
        )


def test_a_name_without_values_is_told():
    with pytest.raises(ValueError, match="the search space is empty: 'T' has no values"):

        @ct.kernel(tuned=tune.Choices(space={"S": [1], "T": []}, grid=lambda c, x: (1,)))
        def nothing(x, S: ct.Constant[int], T: ct.Constant[int]):
            pass


def test_a_kernel_that_does_not_end_on_a_gpu_ends_the_search():
    class Event:
        done = False

    clock = _time.Clock("cpu", None)
    clock.gpu, clock.limit_s, clock.end = True, 0.05, Event()
    with pytest.raises(
        _time.Stuck, match=r"within 0.05 s, and a kernel on a GPU cannot be stopped"
    ):
        clock._wait_for_end()


@ct.kernel
def fault_kernel(x, out):
    ct.assert_(ct.gather(x, 0) != 0, "zero")
    ct.store(out, index=(0,), tile=ct.full((2,), 7, dtype=ct.int32))


def test_a_variant_that_nobody_can_stop_runs_in_a_process_of_its_own(monkeypatch):
    """As on a GPU: the process is killed, the search goes on, with a new process, and arguments are as before."""
    made = []

    def trials(clock):
        made.append(Trials(clock.device, clock.limit_s))
        return made[0]

    monkeypatch.setattr(_search, "_trials", trials)
    monkeypatch.setattr(_time.Clock, "limited", lambda self, job, runs=1: job())  # nothing is stopped here
    args = {c: (np.full(1, c == "b", np.int32), np.zeros(2, np.int32)) for c in "abc"}
    result = tune.search(
        spin_kernel, lambda c: (1,), args.get, list(args), hints_fn=lambda c: {}, check=False, limit_s=0.3, keep=False,
        quiet=True, rounds=3,
    )  # fmt: skip
    assert {m.config for m in result.successes} == {"a", "c"}
    assert result.failures == [("b", TimeoutError, "one run did not end within 0.3 s")]
    assert made[0].process is None
    assert all((out == 0).all() for _, out in args.values())


def test_trials_tell_what_happened():
    x, out = np.ones(1, np.int32), tessera.zeros(2, "int32")

    class Local:
        def __reduce__(self):
            raise TypeError("not to be sent")

    with Trials("cpu", 5.0) as trials:
        assert trials.run(fault_kernel, (1,), (x, out))
        first = trials.process
        assert trials.run(scale_kernel.replace_hints(num_ctas=1), (1,), (out, out, 2, 3))
        assert trials.process is first
        assert not trials.run(scale_kernel, (1,), (x, out, Local(), 3))
        with pytest.raises(RuntimeError, match="KernelError: .*zero"):
            trials.run(fault_kernel.replace_hints(), (1,), (np.zeros(1, np.int32), out))
        assert trials.process is None
        assert trials.run(fault_kernel, (1,), (x, out))
        trials.process.kill()
        with pytest.raises(RuntimeError, match="the process that ran it ended"):
            trials.run(fault_kernel, (1,), (x, out))
    assert (out.numpy() == 0).all()


def test_every_hint_of_a_kernel_is_one_of_the_compiler():
    assert set(_HINTS) < set(tessera._core.HINTS)


@ct.kernel
def slow_read(x, out, TILE: ct.Constant[int]):
    for _ in range(300000):
        ct.atomic_add(out, 1, 1)
    ct.scatter(out, 0, ct.gather(x, 0))


def test_a_search_ends_after_its_last_launch():
    out, stream = tessera.zeros(2, "int32"), tessera.Stream()
    tune.search(slow_read, lambda c: (1,), lambda c: (tessera.zeros(2, "int32"), out, c.TILE), {"TILE": [1]},
                stream=stream, check=False, keep=False, limit_s=30, **FAST)  # fmt: skip
    before = out[1:].numpy()[0]
    stream.synchronize()
    assert out[1:].numpy()[0] == before
