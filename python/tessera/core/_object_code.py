# SPDX-License-Identifier: Apache-2.0
"""ObjectCode: compiled code, and what can be found in it once it is loaded."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Union

from ..bindings import driver

if TYPE_CHECKING:
    from ._kernel import Kernel

__all__ = ["ObjectCode"]

Code = Union[bytes, bytearray, str, os.PathLike[str]]
Name = Union[str, bytes]
_LOADABLE = ("cubin", "ptx", "fatbin")


class _Library:
    """A loaded CUlibrary; kernels hold it, so that it outlives the object code."""

    known: ClassVar[weakref.WeakValueDictionary[int, _Library]] = weakref.WeakValueDictionary()

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.unload = driver.cuLibraryUnload  # a destructor at exit finds no modules
        self.known[int(handle)] = self  # for kernels that come back as handles

    def __del__(self) -> None:
        if sys is not None and not sys.is_finalizing():  # the driver ends it with the process
            self.unload(self.handle)


class ObjectCode:
    """Compiled code of one type, loaded when something in it is first asked for.

    Made by ``Program.compile``, ``Linker.link`` and the ``from_*`` class methods, of bytes or the
    path of a file. Only cubin, PTX and fatbin can be loaded; the others are for a ``Linker``.

    Attributes
    ----------
    code : bytes or str
        The code, or the path it is in.
    code_type : str
        "ptx", "cubin", "ltoir", "fatbin", "object" or "library".
    name : str
        Shown by linkers.
    symbol_mapping : dict
        Names as written (``"f<int>"``) to those in the code.
    """

    __slots__ = ("__weakref__", "_library", "_lock", "code", "code_type", "name", "symbol_mapping")
    code: bytes | str
    code_type: str
    name: str
    symbol_mapping: dict[Any, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "ObjectCode objects cannot be instantiated directly. Please use "
            "ObjectCode.from_cubin(), from_ptx() and so on, Program.compile() or Linker.link()."
        )

    @classmethod
    def _init(
        cls, code: Code, code_type: str, *, name: str = "",
        symbol_mapping: Mapping[Any, Any] | None = None,
    ) -> ObjectCode:  # fmt: skip
        self = object.__new__(cls)
        if isinstance(code, (str, os.PathLike)):
            self.code = os.fspath(code)
        elif isinstance(code, (bytes, bytearray, memoryview)):
            self.code = bytes(code)
        else:
            raise TypeError(f"code must be bytes or the path of a file, not {type(code).__name__}")
        self.code_type, self.name = str(code_type), name or ""
        self.symbol_mapping = dict(symbol_mapping or {})
        self._library: _Library | None = None
        self._lock = threading.Lock()
        return self

    @classmethod
    def _of_library(cls, library: int) -> ObjectCode:
        """What somebody else has loaded and will unload."""
        self = cls._init(b"", "cubin")
        borrowed: Any = object.__new__(_Library)
        borrowed.handle, borrowed.unload = driver.CUlibrary(library), lambda handle: None
        self._library = borrowed
        return self

    @classmethod
    def from_cubin(cls, module: Code, *, name: str = "", symbol_mapping: Any = None) -> ObjectCode:
        """Machine code of one architecture."""
        return cls._init(module, "cubin", name=name, symbol_mapping=symbol_mapping)

    @classmethod
    def from_ptx(cls, module: Code, *, name: str = "", symbol_mapping: Any = None) -> ObjectCode:
        """PTX text."""
        return cls._init(module, "ptx", name=name, symbol_mapping=symbol_mapping)

    @classmethod
    def from_ltoir(cls, module: Code, *, name: str = "", symbol_mapping: Any = None) -> ObjectCode:
        """Input of a link with optimisation."""
        return cls._init(module, "ltoir", name=name, symbol_mapping=symbol_mapping)

    @classmethod
    def from_fatbin(cls, module: Code, *, name: str = "", symbol_mapping: Any = None) -> ObjectCode:
        """Code of several architectures."""
        return cls._init(module, "fatbin", name=name, symbol_mapping=symbol_mapping)

    @classmethod
    def from_object(cls, module: Code, *, name: str = "", symbol_mapping: Any = None) -> ObjectCode:
        """A host object file with device code in it."""
        return cls._init(module, "object", name=name, symbol_mapping=symbol_mapping)

    @classmethod
    def from_library(
        cls, module: Code, *, name: str = "", symbol_mapping: Any = None
    ) -> ObjectCode:
        """An archive of host objects with device code in them."""
        return cls._init(module, "library", name=name, symbol_mapping=symbol_mapping)

    # ---- loading

    def _load(self) -> _Library:
        with self._lock:
            if self._library is None:
                self._library = _Library(self._loaded())
        return self._library

    def _loaded(self) -> Any:
        if self.code_type not in _LOADABLE:
            raise RuntimeError(
                f'Unsupported code type "{self.code_type}" (only {", ".join(_LOADABLE)} can be '
                "loaded); link it with a Linker first"
            )
        if isinstance(self.code, str):
            return driver.checked.cuLibraryLoadFromFile(self.code.encode(), [], [], 0, [], [], 0)
        return driver.checked.cuLibraryLoadData(self.code, [], [], 0, [], [], 0)

    @property
    def handle(self) -> Any:
        """The CUlibrary; loads the code if that has not been done."""
        return self._load().handle

    def _symbol(self, name: Name) -> bytes:
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"a name is str or bytes, not {type(name).__name__}")
        plain = name.decode() if isinstance(name, bytes) else name
        found = self.symbol_mapping.get(plain, self.symbol_mapping.get(plain.encode(), plain))
        return found.encode() if isinstance(found, str) else bytes(found)

    def get_kernel(self, name: Name) -> Kernel:
        """The kernel of a name, as written in ``name_expressions`` or as it is in the code."""
        from ._kernel import Kernel

        library = self._load()
        handle = driver.checked.cuLibraryGetKernel(library.handle, self._symbol(name))
        shown = name if isinstance(name, str) else bytes(name).decode()
        return Kernel._from_library(handle, library, shown)

    def get_global(self, name: Name) -> Any:
        """The memory of a ``__device__`` or ``__constant__`` variable, as a Buffer of the current
        device.

        The buffer keeps the code loaded and does not own the memory: copy into it to set a
        constant.
        """
        from . import Buffer

        library = self._load()
        pointer, size = driver.checked.cuLibraryGetGlobal(library.handle, self._symbol(name))
        return Buffer.from_handle(int(pointer), int(size), owner=library)

    # ---- values

    def __reduce__(self) -> Any:
        return _restore, (self.code, self.code_type, self.name, self.symbol_mapping)

    def __bytes__(self) -> bytes:
        if isinstance(self.code, bytes):
            return self.code
        with open(self.code, "rb") as file:
            return file.read()

    def __repr__(self) -> str:
        handle = int(self._library.handle) if self._library else 0
        return f"<ObjectCode handle={handle:#x} code_type={self.code_type!r}>"


def _restore(code: Code, code_type: str, name: str, symbols: Any) -> ObjectCode:
    return ObjectCode._init(code, code_type, name=name, symbol_mapping=symbols)
