# SPDX-License-Identifier: Apache-2.0
"""Every field of every structure takes any value or refuses it with a usual exception, and memory that a
C function writes text to must have a length."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

MODULES = ["driver", "runtime", "nvrtc", "nvjitlink", "nvvm", "nvml"]
REFUSALS = (
    TypeError,
    ValueError,
    OverflowError,
    BufferError,
    AttributeError,
    RuntimeError,
    MemoryError,
)


class Sly:
    """Has every conversion, and lies."""

    def __index__(self) -> int:
        return 2**63

    __int__ = __index__

    def __float__(self) -> float:
        raise ValueError("no float")

    def __len__(self) -> int:
        return 2**40

    def __getitem__(self, at: int) -> Any:
        if at > 5:
            raise IndexError
        return [0, None, -1][at % 3]


def module(name: str) -> Any:
    return importlib.import_module(f"tessera.bindings.{name}")


def structures(name: str) -> list[type]:
    """The classes of a table's structs, by the base that all have."""
    api = module(name)._api
    kinds = [n for n, entry in api.entries.items() if entry[0] in ("struct", "union")]
    return [api[n] for n in kinds]


def hostile(record: Any) -> list[Any]:
    return [
        0, -1, 1, None, 2**31, 2**32, 2**63, 2**64, 2**200, b"", b"abc", b"x" * 5000, "x", "\0", 1.5, [1, 2, 3], [None],
        (), [record] * 2, record, object(), Sly(), [b"x"] * 40, bytearray(8), [[1]], lambda: 0,
    ]  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_any_value_in_any_field(name: str) -> None:
    for class_ in structures(name):
        record = class_()
        fields = [n for n in dir(record) if not n.startswith("_") and n != "getPtr"]
        for field in fields:
            for value in hostile(class_()):
                try:
                    setattr(record, field, value)
                except REFUSALS:
                    continue
                if not isinstance(value, int):  # an address is believed, and not looked at here
                    try:
                        getattr(record, field)
                    except REFUSALS:
                        pass
            record = class_()


def test_planes_of_a_frame_are_addresses() -> None:
    driver = module("driver")
    frame, room = driver.CUeglFrame_frame(), bytearray(8)
    frame.pPitch = [1, None, room]
    assert frame.pPitch[:2] == [1, 0] and frame.pPitch[2] > 4096
    with pytest.raises(ValueError, match="must be a list of 3 values"):
        frame.pPitch = [1, 2]
    with pytest.raises(TypeError, match="must be an address"):
        frame.pPitch = [1, 2, "x"]


def writers() -> list[tuple[str, str, list[str], int]]:
    """(module, function, parameters, which of them is written to as text)."""
    found = []
    for name in MODULES:
        for entry, (kind, _, rest) in module(name)._api.entries.items():
            params = [p.partition(":") for p in rest.split()[2:]] if kind == "fn" else []
            given = [p for p in params if not p[2].startswith(">")]
            found += [(name, entry, given, i) for i, p in enumerate(given) if p[2] == "buffer"]
    return found


def test_text_is_not_written_to_a_number() -> None:
    assert len(writers()) > 20
    for name, entry, given, at in writers():
        raw = module(name)._api.function(entry)
        arguments = [0 if i < at or p[2] != "buffer" else 4096 for i, p in enumerate(given)]
        with pytest.raises(
            TypeError, match=f"{given[at][0]} must be a buffer to write to, as bytearray"
        ):
            raw(*arguments)


def test_a_size_where_the_text_should_go() -> None:
    nvrtc = module("nvrtc")
    with pytest.raises(
        TypeError,
        match=r"nvrtcGetPTX: ptx must be a buffer to write to, as bytearray\(size\), not int",
    ):
        nvrtc._api.function("nvrtcGetPTX")(0, 1234)
