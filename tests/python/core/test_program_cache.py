# SPDX-License-Identifier: Apache-2.0
"""Caches of compiled programs and their keys."""

from __future__ import annotations

from typing import Any

import pytest

from tessera.core import ObjectCode, Program, ProgramOptions
from tessera.core.utils import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    make_program_cache_key,
)


def key(code: Any = "a", code_type: str = "c++", target: str = "cubin", **rest: Any) -> bytes:
    names = {name: rest.pop(name) for name in ("name_expressions", "extra_digest") if name in rest}
    options = ProgramOptions(**{"arch": "sm_80", **rest})
    return make_program_cache_key(
        code=code, code_type=code_type, options=options, target_type=target, **names
    )


@pytest.fixture(params=["memory", "files"])
def cache(request: Any, tmp_path: Any) -> ProgramCacheResource:
    kinds: dict[str, Any] = {
        "memory": lambda: InMemoryProgramCache(max_size_bytes=250),
        "files": lambda: FileStreamProgramCache(tmp_path, max_size_bytes=250),
    }
    return kinds[request.param]()  # type: ignore[no-any-return]


def test_what_was_used_longest_ago_goes(cache: ProgramCacheResource) -> None:
    cache["a"], cache["b"] = b"a" * 100, b"b" * 100
    assert cache[b"a"] == b"a" * 100
    cache["c"] = ObjectCode.from_cubin(b"c" * 100)
    assert [cache.get(name) is not None for name in "abc"] == [True, False, True]
    del cache["a"]
    assert len(cache) == 1
    with pytest.raises(KeyError):
        cache["a"]


def test_a_value_is_bytes_or_object_code(cache: ProgramCacheResource) -> None:
    with pytest.raises(TypeError, match="bytes-like or ObjectCode"):
        cache["a"] = "text"
    with pytest.raises(TypeError, match="bytes or str, not int"):
        cache[1]  # type: ignore[index]


def test_the_key_sees_what_matters_and_nothing_else() -> None:
    assert key() == key() != key("b")
    assert key(ftz=True) != key(ftz=False)
    assert key(name_expressions=("f", "g")) == key(name_expressions=("g", "f"))
    assert key(extra_digest=b"") != key()
    assert key("x", "ptx", std="c++17") == key("x", "ptx")
    assert key("x", "tileir", "ptx") != key("x", "tileir", "cubin")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"include_path": "/x"}, "extra_digest"),
        ({"create_pch": "x"}, "side effect"),
        ({"name": "a/b.cu"}, "directory component"),
        ({"code_type": "nvvm", "target": "ptx", "use_libdevice": True}, "libdevice"),
        ({"code_type": "tile"}, "cache of its own"),
        ({"code_type": "ptx", "target": "ltoir"}, "not valid for code_type"),
    ],
)
def test_what_cannot_be_seen_is_refused(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        key(**wrong)


def test_compile_asks_the_cache_first() -> None:
    ir = "entry @f(%1: i32) {\n  return\n}\n"
    cache = InMemoryProgramCache()
    first = Program(ir, "tileir", {"arch": "sm_80", "name": "f"}).compile("ptx", cache=cache)
    found = Program(ir, "tileir", {"arch": "sm_80", "name": "f"}).compile("ptx", cache=cache)
    assert found is not first and (found.code, found.name) == (first.code, "f") and len(cache) == 1
    with pytest.raises(ValueError, match="name_expressions"):
        Program(ir, "tileir").compile("ptx", ["f"], cache=cache)
    with pytest.raises(TypeError, match="ProgramCacheResource"):
        Program(ir, "tileir").compile("ptx", cache={})
