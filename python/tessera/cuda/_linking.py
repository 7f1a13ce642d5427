# SPDX-License-Identifier: Apache-2.0
"""Code of others for kernels: what it is, and functions declared of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ._signature import normalize

__all__ = [
    "Archive", "CUSource", "Cubin", "Fatbin", "LTOIR", "LinkableCode", "Object", "PTXSource", "declare_device",
]  # fmt: skip


class LinkableCode:
    """Code that kernels are linked with.

    Parameters
    ----------
    data : bytes or io.IOBase
    name : str, optional
        For messages.
    setup_callback, teardown_callback : callable, optional
        Called with the module once it is loaded, and before it is unloaded.
    """

    kind, default_name = "", "<unnamed>"

    def __init__(
        self, data: Any, name: str | None = None, setup_callback: Callable[..., Any] | None = None,
        teardown_callback: Callable[..., Any] | None = None, nrt: bool = False,
    ) -> None:  # fmt: skip
        for callback in (setup_callback, teardown_callback):
            if callback is not None and not callable(callback):
                raise TypeError("setup_callback and teardown_callback must be callable")
        self._data, self.name = data, name or self.default_name
        self.setup_callback, self.teardown_callback, self.nrt = setup_callback, teardown_callback, nrt

    @property
    def data(self) -> Any:
        """The bytes."""
        return self._data.read() if hasattr(self._data, "read") else self._data

    @classmethod
    def from_path(cls, path: Any) -> LinkableCode:
        """Code of a file, by the ending of its name; RuntimeError for one that is not known."""
        text = os.fspath(path)
        ending = os.path.splitext(text)[1].removeprefix(".").lower()
        if not ending:
            raise RuntimeError(f"Don't know how to link file with no extension: {text!r}")
        if ending not in _ENDINGS:
            raise RuntimeError(f"Don't know how to link file with extension .{ending}: {text!r}")
        with open(text, "rb") as file:
            return _ENDINGS[ending](file.read(), name=text)


class PTXSource(LinkableCode):
    """PTX."""

    kind, default_name = "ptx", "<unnamed-ptx>"


class CUSource(LinkableCode):
    """CUDA C++."""

    kind, default_name = "cu", "<unnamed-cu>"


class Fatbin(LinkableCode):
    """A fat binary."""

    kind, default_name = "fatbin", "<unnamed-fatbin>"


class Cubin(LinkableCode):
    """Machine code."""

    kind, default_name = "cubin", "<unnamed-cubin>"


class Archive(LinkableCode):
    """An archive of objects."""

    kind, default_name = "library", "<unnamed-archive>"


class Object(LinkableCode):
    """An object of nvcc."""

    kind, default_name = "object", "<unnamed-object>"


class LTOIR(LinkableCode):
    """Intermediate code for linking."""

    kind, default_name = "ltoir", "<unnamed-ltoir>"


_ENDINGS: dict[str, type[LinkableCode]] = {
    "ptx": PTXSource, "cu": CUSource, "fatbin": Fatbin, "cubin": Cubin, "a": Archive, "o": Object, "ltoir": LTOIR,
}  # fmt: skip


class ExternFunction:
    """A function of code of others, for kernels to call."""

    def __init__(self, name: str, sig: Any, link: tuple[Any, ...], use_cooperative: bool, abi: str) -> None:
        self.name, self.sig, self.link, self.use_cooperative, self.abi = name, sig, link, use_cooperative, abi
        self.__name__ = name

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError(f"{self.name}() is a function of other code: kernels call it, the host does not")

    def __repr__(self) -> str:
        return f"<device function {self.name}{self.sig.args} -> {self.sig.return_type} of other code>"


def declare_device(
    name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba"
) -> ExternFunction:
    """Declares a function of code of others.

    Parameters
    ----------
    name : str
        Its symbol.
    sig : signature
        With the type of the result.
    link : path, LinkableCode or list of them, optional
        Where it is.
    """
    found = normalize(sig)
    if found.return_type is None:
        raise TypeError("Return type must be provided for device declarations")
    if abi not in ("numba", "c"):
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    links = () if link is None else tuple(link) if isinstance(link, (list, tuple)) else (link,)
    return ExternFunction(name, found, links, use_cooperative, abi)
