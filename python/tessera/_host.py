# SPDX-License-Identifier: Apache-2.0
"""Python as the host of a compilation: runs the expressions of ``ct.static_eval`` and its like.

The packer (``_pack.py``) cuts such an expression out of the kernel as a `Site`. While the kernel is compiled the core
(``include/tessera/host.h``, ``ext/evaluate.c``) calls `Host.evaluate` with the values of the local names that it reads:
what is known at compile time as itself, the rest (tiles, arrays, ...) as a proxy. The answer goes back the same way.

Only built-in modules are imported: the first launch of a kernel pays for nothing else.
"""

from __future__ import annotations

import _thread
import builtins
import os
from types import FunctionType
from typing import TYPE_CHECKING, Any

from . import _ast_table as tables
from . import _records as records
from . import _structs as structs
from ._proxies import PROXIES, Proxy

if TYPE_CHECKING:
    from ._pack import _Packer

__all__ = ["Host", "Site", "current"]

MOST_ITEMS = 1000  # of a static_iter
TAKES_THREADS = (  # the end of messages about arguments, those of ext/records.c too
    "a kernel takes arrays (NumPy, torch, CuPy, Tessera, anything with __dlpack__, __cuda_array_interface__ or a "
    "buffer of numbers, such as ctypes arrays), numbers, tuples, named tuples and frozen dataclasses of such"
)
TAKES = (
    f"{TAKES_THREADS}, lists of arrays; where the parameter is annotated ct.Constant also texts, dtypes, enum members, "
    "functions and tuples of such"
)
_MOST_NESTED = 8  # expressions that launch kernels whose expressions launch kernels ...

_thread_state = _thread._local()
_lock = _thread.RLock()  # of all packs that grow


def _renew_lock() -> None:
    """In the child of a fork, whose other threads are gone with what they held."""
    global _lock
    _lock = _thread.RLock()


os.register_at_fork(after_in_child=_renew_lock)


def current() -> Evaluation | None:
    """The expression that this thread evaluates now, or None."""
    stack = getattr(_thread_state, "stack", None)
    return stack[-1] if stack else None


_CLASSES = {"array": "Array", "tile": "Tile", "view": "TiledView", "raw": "RawArrayMemory"}  # of methods


# ---- expressions ---------------------------------------------------------------------------------------


class Site:
    """One expression: a function of the local names that it reads.

    Its other names are bound when the kernel is packed, as those of the kernel itself.
    """

    def __init__(self, kind: str, run: FunctionType) -> None:
        self.kind, self.run = kind, run


class Evaluation:
    """An expression while it runs."""

    def __init__(self, host: Host, compilation: Any, site: Site) -> None:
        self.host, self.compilation, self.site = host, compilation, site

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An operation of the language that Python code calls."""
        from ._errors import TileStaticEvalError

        if name.startswith("static_"):
            raise TileStaticEvalError(f"{name}() cannot be used inside {self.site.kind}")
        return self.compilation.apply(name, (*args, *kwargs.values()), tuple(kwargs))


def _thread_operation(cuda: Any, name: str) -> Any:
    """``cuda.grid`` of "grid", ``cuda.atomic.add`` of "atomic_add"."""
    from ._errors import TileStaticEvalError

    if hasattr(cuda, name):
        return getattr(cuda, name)
    group, _, rest = name.partition("_")
    found = getattr(getattr(cuda, group, None), rest, None)
    if found is None:
        raise TileStaticEvalError(f"{name}() cannot be handed to Python")
    return found


def _key(value: Any) -> Any:
    """Equal for constants that make the same kernel: records by their fields, numbers by their types too."""
    cls = type(value)
    if cls in (int, float, bool, complex, str):
        return cls, repr(value)
    if records.is_record(cls):
        return cls, *(_key(getattr(value, name, None)) for name, *_ in records.record_of(cls).fields)
    if isinstance(value, tuple):
        return cls, *map(_key, value)
    if cls is slice:  # has no hash before Python 3.12
        return cls, *map(_key, (value.start, value.stop, value.step))
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"is or holds a {cls.__name__}, which may change after the kernel is compiled for it; "
            "pass a tuple, or a frozen dataclass of hashable fields"
        ) from None
    return _Same(value)


class _Same:
    """A key of an object itself, which it keeps alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _where(error: BaseException, own: Any) -> str:
    """Where below the expression an exception came from."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename != __file__ and code is not own:
            place = f", in {code.co_name}() ({code.co_filename}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place


class Host:
    """What a kernel's compilations ask Python for: see the head of this file.

    Parameters
    ----------
    packer : _Packer
        That has packed the kernel. It goes on: what an expression gives and the kernel did not name is packed then.
    """

    def __init__(self, packer: _Packer) -> None:
        self.packer = packer
        self.asks = bool(packer.sites)  # read by ext/evaluate.c
        self.takes_structs = packer.dialect == "thread"  # the same
        self.on_loaded: Any = None  # called with the driver's library of linked code
        self.links: tuple[Any, ...] = ()  # other code for a GPU's, tessera.cuda.LinkableCode; read by ext/evaluate.c
        self.failure: BaseException | None = None  # what linking raised, for the launch to raise
        self.constants: dict[Any, int] = {}
        self.elements: dict[Any, int] = {}  # NumPy's dtypes of arrays of records and texts
        self.classes: dict[type, tuple[int, tuple[str, ...], str]] = {}  # read by ext/records.c

    # -- called by ext/evaluate.c

    def evaluate(self, compilation: Any, number: int, values: tuple[Any, ...]) -> Any:
        """The value of expression ``number``; ``values`` are those of its local names."""
        from ._errors import TileError, TileStaticEvalError

        site = self.packer.sites[number]
        stack = _thread_state.__dict__.setdefault("stack", [])
        if len(stack) >= _MOST_NESTED:
            raise TileStaticEvalError(f"{site.kind} launches kernels that are compiled in it, {_MOST_NESTED} deep")
        stack.append(Evaluation(self, compilation, site))
        try:
            return self.answer(compilation, site, site.run(*values))
        except TileError:
            raise
        except Exception as error:
            text = f": {error}" if str(error) else ""
            raise TileStaticEvalError(
                f"{site.kind} raised {type(error).__name__}{text}{_where(error, site.run.__code__)}"
            ) from error
        finally:
            stack.pop()

    def link(self, ptx: bytes) -> bytes:
        """What the driver loads: the kernel's PTX with the code that it calls."""
        from .cuda._linking import linked

        try:
            return linked(ptx, self.links)
        except Exception as error:
            self.failure = error
            raise

    def loaded(self, library: int) -> None:
        """Linked code is in a GPU, as a library of the driver. Called by ext/evaluate.c."""
        try:
            if self.on_loaded is not None:
                self.on_loaded(library)
        except Exception as error:
            self.failure = error
            raise

    def object(self, number: int) -> Any:
        return self.packer.made[number]

    @property
    def captured(self) -> list[Any]:
        """Arrays of devices that a kernel of threads names, in the order in which a launch adds them."""
        return self.packer.captured

    def function(self, number: int) -> Any:
        return self.packer.callables[number]

    def operation(self, name: str) -> Any:
        from . import cuda, tile

        if self.packer.dialect == "thread":
            return _thread_operation(cuda, name)
        kind, _, rest = name.partition("_")
        found = getattr(tile, name, None)
        return getattr(getattr(tile, _CLASSES[kind]), rest) if found is None else found

    def builtin(self, name: str) -> Any:
        module, _, name = name.rpartition(".")
        return getattr(__import__(module) if module else builtins, name)

    def proxy(self, compilation: Any, number: int, what: str) -> Proxy:
        return PROXIES.get(what, Proxy)(compilation, number, what)

    def record(self, number: int, items: tuple[Any, ...]) -> Any:
        """An instance of the dataclass or named tuple of that number, without its __post_init__."""
        cls: Any = self.packer.made[number]
        if issubclass(cls, tuple):
            return tuple.__new__(cls, items)
        made = object.__new__(cls)
        for (name, *_), item in zip(records.record_of(cls).fields, items, strict=True):
            object.__setattr__(made, name, item)
        return made

    def number(self, compilation: Any, value: Any) -> int | tuple[int, tuple[Any, ...]]:
        """The number of an object of the pack, or of a proxy as -1 - number; class and fields of a record."""
        from ._errors import TileStaticEvalError, TileTypeError

        if isinstance(value, Proxy):
            if object.__getattribute__(value, "_compilation") is not compilation:
                raise TileStaticEvalError(
                    "a value of the kernel was kept from an earlier expression\n  help: it may be used inside of the "
                    "expression that it was given to; hand it on by a variable of the kernel"
                )
            return -1 - int(object.__getattribute__(value, "_number"))
        cls: Any = type(value)
        if records.is_record(cls) and (isinstance(value, tuple) or cls.__dataclass_params__.frozen):
            names = [name for name, *_ in records.record_of(cls).fields]
            items = tuple(value) if isinstance(value, tuple) else tuple(getattr(value, name) for name in names)
            return self.known(cls), items
        number = self.known(value)
        kind = self.packer.objects[number][0]
        is_many = isinstance(value, (list, set, frozenset)) or (kind == tables.TUPLE and not isinstance(value, tuple))
        if kind == tables.OPAQUE or is_many:
            help = "tuple(...)" if is_many else "a number, text, tuple, dtype or function"
            raise TileTypeError(f"Python gave a {type(value).__name__}, which kernels cannot hold\n  help: give {help}")
        return number

    def constant(self, value: Any) -> int:
        """The number of an argument that is compiled in. What is equal has one number: a version of the kernel."""
        key = _key(value)
        number = self.constants.get(key)
        if number is None:
            number = self.known(value)
            if isinstance(value, str) and "\0" in value:
                raise TypeError("is a text with a NUL character, which kernels cannot hold; leave that out")
            if self.packer.objects[number][0] == tables.OPAQUE:
                raise TypeError(f"is a {type(value).__name__}; {TAKES}")
            self.constants[key] = number
        return number

    def record_class(self, cls: Any) -> tuple[int, tuple[str, ...], str]:
        """Number, names of fields, and these as one text, of a class whose instances are arguments."""
        if not issubclass(cls, tuple) and not cls.__dataclass_params__.frozen:
            raise TypeError(
                f"is a {cls.__name__}, a dataclass that is not frozen; decorate it with @dataclass(frozen=True)"
            )
        names = tuple(name for name, *_ in records.record_of(cls).fields)
        return self.classes.setdefault(cls, (self.known(cls), names, ",".join(names)))  # launches borrow it for good

    def structured(self, value: Any) -> tuple[int, int, Any] | int | None:
        """Of an array or record of NumPy: the number of what its elements are, their bytes, and an array of these; of a
        dtype its number; None for others. Called by ext/records.c."""
        from . import _core
        from ._pack import dtype_name

        name = dtype_name(value)
        if name is not None:
            return 1 + [row[0] for row in _core.DTYPES].index(name)
        found = structs.bytes_of(value)
        if found is None:
            return None
        return self.element(found.dtype), found.dtype.itemsize, found.array

    def element(self, dtype: Any) -> int:
        """The number of what elements of a NumPy dtype are."""
        number = self.elements.get(dtype)
        if number is None:
            with _lock:
                number = self.elements[dtype] = structs.pack_element(self.packer, dtype)
                self.packer.complete()
        return number

    def known(self, value: Any) -> int:
        with _lock:
            number = self.packer.object(value)
            self.packer.complete()
            return number

    def pack(self) -> bytes:
        """The pack as it is now."""
        with _lock:
            return self.packer.bytes()

    # -- by kind of expression

    def throw(self, value: Any) -> None:
        """What ``raise ct.static_exception(value)`` does."""
        from ._errors import StaticException, TileTypeError

        if isinstance(value, type) and issubclass(value, BaseException):
            value = value()
        if not isinstance(value, BaseException):
            raise TileTypeError(
                f"static_exception() takes an exception, found a {type(value).__name__}\n"
                '  help: for example `raise ct.static_exception(ValueError("..."))`'
            )
        text = f": {value}" if str(value) else ""
        raise StaticException(f"exception was raised at compile time ({type(value).__name__}{text})") from value

    def answer(self, compilation: Any, site: Site, value: Any) -> Any:
        if site.kind.startswith("static_iter"):
            return self.items(compilation, value)
        if site.kind.startswith("static_exception"):
            self.throw(value)
        if site.kind.endswith("message"):
            return "" if value is None else str(value)
        return value

    def items(self, compilation: Any, value: Any) -> tuple[Any, ...]:
        """What a static_iter runs over, at most 1000 items."""
        from ._errors import TileStaticEvalError, TileTypeError

        items: list[Any] = []
        try:
            for item in value:
                if len(items) == MOST_ITEMS:
                    break
                items.append(item)
            else:
                return tuple(self.checked(compilation, i, item) for i, item in enumerate(items))
        except TileStaticEvalError:
            raise
        except Exception as error:
            raise TileTypeError(f"static_iter() cannot run over this: {error}") from error
        raise TileStaticEvalError(
            f"static_iter() runs over more than {MOST_ITEMS} items\n  help: loop over range(...)"
        )

    def checked(self, compilation: Any, at: int, item: Any) -> Any:
        from ._errors import TileStaticEvalError, TileTypeError

        if type(item) not in (int, float, bool, str, tuple, dict) and item is not None:
            try:
                self.number(compilation, item)
            except TileTypeError as error:
                raise TileStaticEvalError(f"item {at} of static_iter(): {error}") from None
        return item
