# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for arguments of ``make_..`` where there is no array yet: they say the dtype, and nothing else."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy

__all__ = ["ProxyArray", "ProxyValue"]


class _Interface(dict):  # type: ignore[type-arg]
    """The interface of an array without memory."""

    def __missing__(self, key: str) -> Any:
        if key == "data":
            _refuse("ProxyArray")
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key == "data" else super().get(key, default)


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(f"a {name} has no data: an algorithm is made for it, and called with an array or a value")


class ProxyArray:
    """Says that an argument will be an array of this dtype.

    Parameters
    ----------
    dtype : numpy.dtype
    """

    __slots__ = ("dtype",)
    shape = (1,)

    def __init__(self, dtype: Any) -> None:
        self.dtype = numpy.dtype(dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return _Interface(shape=(1,), typestr=self.dtype.str, version=3, strides=None)

    def __repr__(self) -> str:
        return f"ProxyArray(dtype={self.dtype})"


class ProxyValue:
    """Says that an argument will be a number of this dtype.

    Parameters
    ----------
    dtype : numpy.dtype
    """

    __slots__ = ("dtype",)

    def __init__(self, dtype: Any) -> None:
        self.dtype = numpy.dtype(dtype)

    def __repr__(self) -> str:
        return f"ProxyValue(dtype={self.dtype})"
