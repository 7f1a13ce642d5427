# SPDX-License-Identifier: Apache-2.0
"""Functions of Python chosen by the types of arguments: what ``cuda.extending.overload`` and its like register, and how
a kernel finds it.

What is overloaded is packed as a *resolver*, a helper function whose own text is below: it asks Python, while the
kernel is compiled, for the function that fits the arguments (``choose``, see ADR 0018), and calls that.

    scale(x, 2)  ─▶  overloaded(x, 2):  choose((x, 2), {})(x, 2)
                                        └─ types of x and 2 ─▶ typing functions in order ─▶ an implementation
    x.scaled     ─▶  attribute(x):      choose((x,), {})(x)          where some type has an attribute of that name
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from . import types
from ._errors import LoweringError, NumbaError, TypingError

__all__ = ["Original", "Registered", "add", "add_member", "member_resolver", "resolver_of", "type_of"]

TARGETS = ("cuda", "gpu", "generic")  # the first is tried first; others are for compilers that are not here


class Registered(NamedTuple):
    """One typing function: called with types, it gives an implementation or None."""

    typing: Callable[..., Any]
    target: str = "cuda"
    strict: bool = True
    prefer_literal: bool = False


class Original:
    """A function as it is without its overloads."""

    def __init__(self, function: Any) -> None:
        self.function = function


_functions: dict[int, tuple[Any, list[Registered], Any]] = {}  # id -> function (kept alive), overloads, resolver
_members: dict[tuple[str, bool], list[tuple[Any, Registered]]] = {}  # (name, is a method) -> class of types, overload
_resolvers: dict[tuple[str, bool], Any] = {}


def add(function: Any, registered: Registered) -> None:
    """Registers an overload of a function."""
    known = _functions.get(id(function))
    if known is None:
        known = _functions[id(function)] = function, [], _resolver(_Choice(function))
    known[1].append(registered)


def add_member(cls: Any, name: str, is_method: bool, registered: Registered) -> None:
    """Registers an attribute or a method of the values of a type, or of a class of types."""
    _members.setdefault((name, is_method), []).append((cls, registered))


def resolver_of(function: Any) -> Any:
    """The helper function that kernels call in its place, or None where there are no overloads."""
    known = _functions.get(id(function))
    return known[2] if known is not None and known[0] is function else None


def member_resolver(name: str, is_method: bool) -> Any:
    """The helper function for an attribute or method of that name, or None where no type has it."""
    if (name, is_method) not in _members:
        return None
    if (name, is_method) not in _resolvers:
        _resolvers[name, is_method] = _resolver(_MemberChoice(name, is_method))
    return _resolvers[name, is_method]


def _resolver(choice: Any) -> Any:
    choose = choice.site()

    def overloaded(*args, **named):  # type: ignore[no-untyped-def]
        return choose(args, named)(*args, **named)

    overloaded.__name__ = overloaded.__qualname__ = choice.name  # for messages
    return overloaded


# ---- the types of values of a kernel -------------------------------------------------------------------


def _scalar(dtype: Any) -> types.Type:
    name = str(getattr(dtype, "name", None) or dtype).removesuffix("_")
    return types.SCALARS.get(name) or types.Opaque(name)


def _array(value: Any) -> types.Type:
    strides, shape = value.strides, value.shape
    known = bool(strides) and not any(hasattr(n, "_number") for n in (*strides, *shape[1:]))
    step, rows = strides[-1] if known else 0, known and strides[-1] in (1, _itemsize(value.dtype))
    for axis in range(len(strides) - 2, -1, -1) if rows else ():
        step *= shape[axis + 1]
        rows = rows and strides[axis] == step
    return types.Array(_scalar(value.dtype), len(shape), "C" if rows else "A")


def _itemsize(dtype: Any) -> int:
    return int(getattr(_scalar(dtype), "bitwidth", 0)) // 8


def _kept(value: Any, literal: bool) -> types.Type | None:
    """Of what is known while the kernel is compiled."""
    if isinstance(value, (bool, int, str)):
        known = types.literal(value)
        return known if literal else known.literal_type
    if isinstance(value, (tuple, list)):
        items = [type_of(item, literal) for item in value]
        if hasattr(value, "_fields"):
            return types.NamedTuple(items, type(value))
        return types.Tuple(items)
    if isinstance(value, slice):
        return types.slice2_type if value.step is None else types.slice3_type
    if value is ...:
        return types.ellipsis
    return None


def _of_fields(value: Any, literal: bool) -> types.Type | None:
    """Of an instance of a dataclass: one's own type where that has a struct, an array of values, or by its fields."""
    from ._places import Places
    from ._times import Date, Span

    own: types.Type | None = getattr(value, "__tessera_type__", None)
    if own is not None:
        return own
    if isinstance(value, (Date, Span)):
        return (types.NPDatetime if isinstance(value, Date) else types.NPTimedelta)(value.unit)
    if isinstance(value, Places):
        return types.Array(type_of(value.like), 1, "C")
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is None:
        return None
    return types.Dataclass([type_of(getattr(value, name), literal) for name in fields], type(value))


def type_of(value: Any, literal: bool = False) -> types.Type:
    """The type of a value of a kernel that is being compiled.

    Notes
    -----
    An array whose elements are known to lie one behind the other (one of one dimension, memory of the kernel's own) is
    ``C``, every other ``A``: what else a kernel was compiled for is not part of a value's type here.
    """
    from .._proxies import Array, Proxy, Tile

    if isinstance(value, Array):
        return _array(value)
    if isinstance(value, Tile):
        return _scalar(value.dtype)
    if isinstance(value, Proxy):
        return types.Function(repr(value))
    kept = _kept(value, literal)
    if kept is None and not isinstance(value, type):
        kept = _of_fields(value, literal)
    if kept is not None:
        return kept
    from .._foreign import dtype_name

    named = None if isinstance(value, types.Type) else dtype_name(value)
    if named is not None:
        return types.NumberClass(_scalar(named))
    if isinstance(value, types.Type):
        return types.NumberClass(value)
    if callable(value):
        return types.Function(value)
    from .._structs import element_of
    from ._typeof import from_dtype, typeof

    element = element_of(value)
    return typeof(value) if element is None else types.NumberClass(from_dtype(element))


# ---- the choice ----------------------------------------------------------------------------------------


class _Choice:
    """Which implementation of a function fits."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.name = getattr(function, "__name__", repr(function))

    def site(self) -> Any:
        """What the resolver calls; the packer leaves the call to Python."""

        def choose(args: Any, named: Any) -> Any:
            return self.choose(tuple(args), dict(named))

        choose.__tessera_site__ = f"overload {self.name}()"  # type: ignore[attr-defined]
        return choose

    def overloads(self, first: types.Type | None) -> list[Registered]:
        return _functions[id(self.function)][1]

    def fallback(self) -> Any:
        """What is called where nothing fits: the function itself, if it is one that kernels know."""
        is_own = inspect.isfunction(self.function) and not hasattr(self.function, "__tessera_op__")
        return None if is_own else Original(self.function)

    def choose(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        plain = [type_of(arg) for arg in args], {name: type_of(arg) for name, arg in named.items()}
        literal = [type_of(arg, True) for arg in args], {name: type_of(arg, True) for name, arg in named.items()}
        failed: list[str] = []
        for found in sorted(self.overloads(plain[0][0] if plain[0] else None), key=_rank):
            if found.target not in TARGETS:
                continue
            for given in (literal, plain) if found.prefer_literal else (plain, literal):
                made = self.implementation(found, *given, failed)
                if made is not None:
                    return made
        fallback = self.fallback()
        if fallback is not None:
            return fallback
        raise TypingError(self.no_match(plain, failed))

    def implementation(self, found: Registered, args: Any, named: Any, failed: list[str]) -> Any:
        try:
            made = found.typing(*args, **named)
        except LoweringError:
            raise
        except NumbaError as error:
            failed.append(str(error))
            return None
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise
            failed.append(str(error))  # other arguments than it takes
            return None
        if made is None:
            return None
        made = made[1] if isinstance(made, tuple) else made
        _check_signatures(found, made)
        return made

    def no_match(self, given: Any, failed: list[str]) -> str:
        words = [*map(str, given[0]), *(f"{name}={type_}" for name, type_ in given[1].items())]
        notes = "".join(f"\n  note: {text}" for text in dict.fromkeys(failed))
        return (
            f"No implementation of function Function({self.function!r}) found for signature:\n"
            f" >>> {self.name}({', '.join(words)}){notes}"
        )


class _MemberChoice(_Choice):
    """Which implementation of an attribute or a method fits; where none does, the value's own is taken."""

    def __init__(self, name: str, is_method: bool) -> None:
        self.name, self.is_method = name, is_method

    def overloads(self, first: types.Type | None) -> list[Registered]:
        known = _members[self.name, self.is_method]
        return [found for cls, found in known if (isinstance(first, cls) if isinstance(cls, type) else first == cls)]

    def fallback(self) -> Any:
        name = self.name
        if self.is_method:
            return lambda value, *args, **named: getattr(value, name)(*args, **named)
        return lambda value: getattr(value, name)


def _rank(found: Registered) -> int:
    return TARGETS.index(found.target) if found.target in TARGETS else len(TARGETS)


# ---- the two signatures of an overload -------------------------------------------------------------------


def _check_signatures(found: Registered, made: Any) -> None:
    """TypingError where typing function and implementation take different arguments."""
    plain = getattr(made, "py_func", made)
    if not found.strict or not inspect.isfunction(plain):
        return
    typing, implementation = inspect.signature(found.typing), inspect.signature(plain)
    if typing == implementation:
        return
    kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    stars = [{p.kind: p for p in sig.parameters.values() if p.kind in kinds} for sig in (typing, implementation)]
    for of in stars:
        if kinds[1] in of:
            raise _differs(
                found, made, "use of VAR_KEYWORD (e.g. **kwargs) is unsupported. (offending argument name is "
                f"'{of[kinds[1]]}')"
            )  # fmt: skip
    if (kinds[0] in stars[0]) != (kinds[0] in stars[1]):
        star = (stars[0] or stars[1])[kinds[0]]
        raise _differs(
            found, made, "VAR_POSITIONAL (e.g. *args) argument kind must be in both or in none (offending argument "
            f"name is '{star}')"
        )  # fmt: skip
    _check_names(found, made, typing, implementation)


def _check_names(found: Registered, made: Any, *signatures: inspect.Signature) -> None:
    for what, has in (("argument names", False), ("keyword argument names", True)):
        given = [[p for p in s.parameters.values() if (p.default is not p.empty) == has] for s in signatures]
        names = [[p.name for p in params] for params in given]
        if names[0] == names[1]:
            continue
        differ = [p for own, other in (given, given[::-1]) for p in own if p.name not in {q.name for q in other}]
        pairs = (b for a, b in zip(*names) if a != b)
        shown = f" First difference: '{next(pairs, differ[0].name if differ else '')}'" if differ else ""
        raise _differs(found, made, f"{what}.{shown} ({', '.join(map(repr, differ))})")
    values = [p for pair in zip(*(s.parameters.values() for s in signatures)) for p in pair
              if pair[0].default != pair[1].default]  # fmt: skip
    if values:
        raise _differs(found, made, f"keyword argument default values. ({', '.join(map(repr, values))})")


def _differs(found: Registered, made: Any, why: str) -> TypingError:
    names = f"{found.typing.__qualname__} and {getattr(made, '__qualname__', made)}"
    return TypingError(f"Typing and implementation arguments differ in {why}\n  found: {names}")
