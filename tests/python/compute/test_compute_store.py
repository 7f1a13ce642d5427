# SPDX-License-Identifier: Apache-2.0
"""What one process keeps of kernels for the next: it is the same kernel, and nothing else passes for it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tessera import _core, _pack, compute
from tessera.compute import _engine, _store

N = 1000
X = np.arange(N) % 7


@pytest.fixture
def packed(monkeypatch, tmp_path):
    """The names of functions that are packed, with nothing kept by tests before."""
    found, pack = [], _pack.pack_kernel

    def pack_kernel(function, *given):
        found.append(function.__name__)
        return pack(function, *given)

    monkeypatch.setenv("TESSERA_TIERS", "0")  # what is kept is fast code
    monkeypatch.setattr(_pack, "pack_kernel", pack_kernel)
    monkeypatch.setattr(_engine, "_keeps", True)
    library = _store._library()
    monkeypatch.setattr(_store, "_library", lambda: f"{library} {tmp_path} {os.getpid()}")
    compute.clear_all_caches()
    yield found
    compute.clear_all_caches()


def transformed(op):
    """As the next process would do it."""
    out = np.zeros_like(X)
    compute.clear_all_caches()
    compute.unary_transform(d_in=X, d_out=out, op=op, num_items=N)
    return out


def test_nothing_is_packed_a_second_time(packed):
    for _ in range(2):
        compute.clear_all_caches()
        out, one, n = np.zeros_like(X), np.zeros(1, X.dtype), np.zeros(1, np.int64)
        compute.inclusive_scan(d_in=X, d_out=out, num_items=N, op=lambda a, b: b + a)
        assert np.array_equal(out, np.cumsum(X))
        compute.reduce_into(d_in=X, d_out=one, num_items=N, op=lambda a, b: b + a, h_init=np.int64(3))
        assert one[0] == X.sum() + 3
        compute.select(d_in=X, d_out=out, d_num_selected_out=n, num_items=N, cond=lambda v: v > 3)
        assert np.array_equal(out[: n[0]], X[X > 3])
        compute.radix_sort(d_in_keys=X, d_out_keys=out, num_items=N, end_bit=3)
        assert np.array_equal(out, np.sort(X))
    assert len(packed) == len(set(packed)) == 4


@pytest.fixture
def read(monkeypatch):
    """Whether the packs of kernels that were kept are there; those that are read are counted."""
    asked, kept = {"there": True, "n": 0}, _core.cache_kept

    def cache_kept(name):
        if not name.endswith(_store._PACK):
            return kept(name)
        asked["n"] += 1
        return kept(name) if asked["there"] else None

    monkeypatch.setattr(_store._core, "cache_kept", cache_kept)
    return asked


def test_kept_code_needs_no_pack(packed, read):
    op = lambda x: x * 3 + 1  # noqa: E731
    transformed(op)
    assert np.array_equal(transformed(op), X * 3 + 1)
    assert len(packed) == 1 and read["n"] == 0


@pytest.mark.parametrize("there", [True, False])
def test_other_code_of_a_kept_kernel_is_made_of_its_pack(packed, read, there):
    """Which is made anew where the cache was cleared meanwhile."""
    read["there"] = there
    op = lambda x: x * 3 + 1  # noqa: E731
    transformed(op)
    compute.clear_all_caches()
    both = X.copy()
    compute.unary_transform(d_in=both, d_out=both, op=op, num_items=N)  # arrays that share memory: other code
    assert np.array_equal(both, X * 3 + 1)
    assert len(packed) == 2 - there and read["n"] > 0


def test_a_folder_is_what_its_files_are(tmp_path):
    def found():
        return _core.cache_files((str(tmp_path),), (".py", ".so"))

    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b.txt").write_text("x")
    first = found()
    (tmp_path / "b.txt").write_text("xy")
    assert found() == first
    for name, text in (("a.py", "xy"), ("c.so", "x")):
        (tmp_path / name).write_text(text)
        assert found() != first
        first = found()
    os.utime(tmp_path / "a.py", ns=(1, 1))
    assert found() != first
    assert _core.cache_files((str(tmp_path / "none"),), (".py",)) is None
    with pytest.raises(TypeError):
        _core.cache_files((3,), (".py",))


def test_operators_of_other_code_are_other_kernels(packed):
    assert np.array_equal(transformed(lambda x: x + 1), X + 1)
    assert np.array_equal(transformed(lambda x: x + 2), X + 2)
    space = {"factor": 2}
    for factor in (2, 5, 2):
        space["factor"] = factor
        exec("op = lambda x: x * factor", space)  # noqa: S102
        assert np.array_equal(transformed(space["op"]), X * factor)
    assert len(packed) == 4


def test_names_of_equal_keys_are_equal_alone():
    """Also where the lines of a tuple are those that were made before; numbers of other types are equal in Python."""
    key = (1, ("array", np.dtype("f4")))
    names = [_store.name_of(transformed, (part, part), ()) for part in (key, (1, ("array", np.dtype("f4"))), key)]
    assert names[0] is not None and len(set(names)) == 1
    others = ((True, key[1]), (1.0, key[1]), (1, (key[1],)), (1, *key[1]), (1, ("array", np.dtype("i4"))))
    assert len({names[0], *(_store.name_of(transformed, (part, part), ()) for part in others)}) == 1 + len(others)


def test_many_keys_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(_store, "_tuples", {})
    names = {_store.name_of(transformed, (i,), ()) for i in range(3 * _store._MOST_TUPLES)}
    assert len(names) == 3 * _store._MOST_TUPLES and len(_store._tuples) <= _store._MOST_TUPLES


def test_what_other_processes_do_not_know_is_packed(packed):
    table = np.arange(7) * 3
    for _ in range(2):
        assert np.array_equal(transformed(lambda x: table[x]), X * 3)
    Pair = compute.gpu_struct({"s": np.int64, "t": np.int64}, "Pair")
    for _ in range(2):
        pairs = np.ones(N, Pair.dtype)
        compute.clear_all_caches()
        compute.inclusive_scan(d_in=pairs, d_out=pairs, num_items=N, op=lambda a, b: Pair(a.s + b.s, b.t))
        assert np.array_equal(pairs["s"], np.arange(1, N + 1)) and (pairs["t"] == 1).all()
    assert len(packed) >= 2


def test_arrays_of_structs_ask_the_host(packed):
    """Sums of runs keep pairs of a count and a sum, which a launch hands over."""
    keys, values = np.arange(N) // 10, np.ones(N, np.float32)
    for _ in range(2):
        compute.clear_all_caches()
        out_keys, out, n = np.zeros_like(keys), np.zeros(N, np.float32), np.zeros(1, np.int64)
        compute.reduce_by_key(
            d_in_keys=keys, d_in_values=values, d_out_keys=out_keys, d_out_values=out, d_num_runs_out=n, num_items=N,
            op=compute.OpKind.PLUS,
        )  # fmt: skip
        assert n[0] == N // 10 and (out[: n[0]] == 10).all()


def test_a_library_without_files_keeps_nothing(packed, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(_store, "_FOLDERS", (".", "none"))
    _store._library.cache_clear()
    assert _store.name_of(transformed, ("a",), None) is None
    monkeypatch.undo()
    assert _store.name_of(transformed, ("a",), None) is not None


def test_exceptions_are_those_of_the_operator(packed):
    def op(x):
        if x > 5:
            raise ValueError("too much")
        return x

    for _ in range(2):
        with pytest.raises(ValueError, match="too much"):
            transformed(op)
    assert packed


def test_another_process_packs_nothing(tmp_path):
    program = (
        "import sys, numpy as np\n"
        "from tessera import compute\n"
        "x = np.arange(9.0)\n"
        "compute.inclusive_scan(d_in=x, d_out=x, num_items=9, op=compute.OpKind.PLUS)\n"
        "print(x[-1])\n"
        "made = {'tessera._pack', 'tessera.cuda._dispatcher'}\n"  # what packs and what compiles: not even imported
        "assert not sys.argv[1:] or not made & set(sys.modules)\n"
    )
    for arguments in ((), ("second",)):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False,
            env={**os.environ, "TESSERA_CACHE_DIR": str(tmp_path)},
        )  # fmt: skip
        assert done.stdout == "36.0\n", done.stderr
