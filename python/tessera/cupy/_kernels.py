# SPDX-License-Identifier: Apache-2.0
"""ElementwiseKernel: statements in CUDA C on each element, as one kernel of threads on any device.

ElementwiseKernel("T x, T y", "T z", "z = x * y", "product")(a, b)

-->  def kernel(n, p_x, p_y, p_z):                  _c_emit.py writes the statements
         v_i, k_step = cuda.grid(1), cuda.gridsize(1)
         while v_i < n:
             v_x = p_x[v_i]
             v_y = p_y[v_i]
             v_z = (v_x * v_y)
             p_z[v_i] = v_z
             v_i += k_step
"""

from __future__ import annotations

import math
import re
from typing import Any

from .. import _core
from .. import numeric as tn
from ._boundary import Base
from ._c_emit import MARK, Body, Unit
from ._c_parse import CError, Node, Parser, read_preamble, tokens_of
from ._c_types import LONG
from ._ndarray import ndarray
from ._params import (
    as_cupys,
    check_name,
    checked,
    concrete,
    dtypes_of,
    new_array,
    params_of,
    values_of,
)

__all__ = ["THREADS", "ElementwiseKernel", "kernel_of", "launch", "launched", "unit_of"]

THREADS, MOST_BLOCKS = 128, 1 << 20
WIDE, MOST_ROWS = 32, 65535  # elements of rows that have blocks of their own, and blocks of rows
MOST_PLANS = 1024
RESERVED = frozenset({"i", "n"})


def kernel_of(source: str, space: dict[str, Any], name: str, functions: Any = ()) -> Any:
    """The kernel of threads of a text, in a namespace; ``functions``: texts of those that it calls."""
    from ..cuda._dispatcher import kernel_around
    from ..cuda._options import options_of

    exec(compile(source, f"<cupy kernel {name}>", "exec"), space)  # noqa: S102  written by this package
    kernel: Any = kernel_around(space["kernel"], options_of({}), source, own_grid=True)
    texts = {re.findall(r"^def (\w+)", text, re.MULTILINE)[0]: text for text in (*functions, source)}
    fails, kernel._failed = kernel._failed, lambda error: _in_users_words(fails(error), error, texts, name)
    return kernel


def _in_users_words(made: BaseException, error: Any, texts: dict[str, str], name: str) -> BaseException:
    """What a checked kernel raises, with the line of the user's text in place of ours."""
    failure = getattr(error, "failure", None)
    lines = texts.get(getattr(failure, "function", ""), "").split("\n")
    place = failure.line if failure is not None and 0 < failure.line <= len(lines) else 0
    _, mark, line = lines[place - 1].rpartition(MARK) if place else ("", "", "")
    if mark and made.args and isinstance(made.args[0], str):
        text = "kernel" if failure.function == "kernel" else "preamble"
        ours = f"In function {failure.function!r}, file {failure.file}, line {failure.line}, "
        made.args = (made.args[0].replace(ours, f"In line {line} of the {text} of {name!r}, "), *made.args[1:])
    return made


def launched(source: str, unit: Unit, name: str) -> Any:
    """A kernel of threads of a text, with the functions of its preamble."""
    for text in unit.sources:
        exec(compile(text, f"<cupy kernel {name}>", "exec"), unit.space)  # noqa: S102  written by this package
    return kernel_of(source, unit.space, name, unit.sources)


def launch(kernel: Any, blocks: int, threads: int, args: Any) -> None:
    """Runs a kernel of threads where its arrays lie, on the current stream."""
    from .cuda._stream import before_launch, get_current_stream

    stream = get_current_stream()
    if stream._is_null:
        kernel[blocks, threads](*args)
        return
    before_launch(stream)
    kernel[blocks, threads, stream._stream](*args)
    stream._rejoin()


_view = Base._view
_device = Base.device.__get__  # type: ignore[attr-defined]


def look(args: Any) -> Any:
    """How arguments look: what the kernel for them and the shape of its result depend on."""
    return tuple(
        [(x.dtype, x.shape, x.strides, _device(x)) if type(x) is ndarray else type(x) for x in args]
    )


def views_of(values: Any, args: Any, kinds: Any) -> Any:
    """How a kernel sees its arguments: dtype, shape and strides of views of arrays, types of numbers; None: it saw a
    copy of one."""
    made: list[Any] = []
    for x, a, kind in zip(values, args, kinds, strict=False):
        if not isinstance(x, Base):
            made.append(kind.type)
        elif a._address() == x._address():
            made.append((a.dtype, a.shape, a.strides))
        else:
            return None
    return made


def seen(values: Any, converts: Any) -> list[Any]:
    """Arguments as a kernel sees them."""
    return [
        _view(x, 0, *how) if type(how) is tuple else how(x)
        for x, how in zip(values, converts, strict=True)
    ]


def room(shape: Any, kind: Any, place: str) -> Any:
    """A new array on a device."""
    token = _core.numeric_current.set(_core.numeric_place(place))
    try:
        return _core.numeric_empty(shape, kind)
    finally:
        _core.numeric_current.reset(token)


class _Layout:
    """How an argument that is no raw one lies: a number, flat as the result does, or by index along each axis."""

    NUMBER, FLAT, STEPS = "number", "flat", "steps"

    @staticmethod
    def of(x: Any, shape: Any) -> str:
        if not isinstance(x, Base):
            return _Layout.NUMBER
        return _Layout.FLAT if x.shape == shape and x.flags.c_contiguous else _Layout.STEPS


class ElementwiseKernel:
    """A kernel on the elements of arrays.

    Parameters
    ----------
    in_params, out_params : str
        ``"T x, raw float32 y"``: dtypes by name or by letters, which arguments give; ``raw`` ones are indexed by hand.
    operation : str
        Statements in CUDA C. ``i`` is the place of the element, ``n`` and ``_ind.size()`` how many there are.
    name : str
    reduce_dims : bool
        Accepted: axes that lie as one are one.
    preamble : str
        Functions, types, constants, #define.
    no_return, return_tuple : bool
        Whether a call gives None, or a tuple of one result.
    loop_prep, after_loop : str
        Statements of each thread before and after its elements.
    options : tuple of str
        Of a compiler that is not there; accepted.

    Raises
    ------
    ValueError
        The text is not understood: what, in which line (at the first call).
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        **options: Any,
    ) -> None:
        self.name, self.operation, self.preamble = name, operation, preamble
        check_name(name)
        self.in_params = params_of(in_params, name, RESERVED)
        self.out_params = params_of(out_params, name, RESERVED)
        self.params = self.in_params + self.out_params
        self.nin, self.nout, self.nargs = (
            len(self.in_params),
            len(self.out_params),
            len(self.params),
        )
        if len({p.name for p in self.params}) != self.nargs:
            raise ValueError(f"{name}: two parameters have one name")
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        self.loop_prep, self.after_loop = (
            options.pop("loop_prep", ""),
            options.pop("after_loop", ""),
        )
        options.pop("options", None)
        if options:
            raise TypeError(f"{name}: ElementwiseKernel has no option {next(iter(options))!r}")
        self._kernels: dict[Any, Any] = {}
        self._plans: dict[Any, Any] = {}

    @property
    def kwargs(self) -> dict[str, Any]:
        """Options that CuPy passes on."""
        return {"loop_prep": self.loop_prep, "after_loop": self.after_loop}

    def __call__(
        self, *args: Any, size: int | None = None, block_size: int = THREADS, **options: Any
    ) -> Any:
        """Runs the kernel.

        Parameters
        ----------
        args : array or number
            The inputs; behind them the outputs, or none of those.
        size : int, optional
            How many elements, where all arrays are raw.
        block_size : int
            Threads of a block.
        stream : Stream, optional
        """
        if not options and size is None and block_size == THREADS:
            plan = self._plans.get(look(args))
            if plan is not None:
                return self._again(plan, args)
        stream = options.pop("stream", None)
        if options:
            raise TypeError(f"Wrong arguments {options}")
        if block_size <= 0:
            raise ValueError("block_size must be greater than zero")
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}: {self.nin} or {self.nargs} expected, found {len(args)}"
            )
        if stream is not None:
            with stream:
                return self(*args, size=size, block_size=block_size)
        given = [checked(x, self.name) for x in args]
        for x in given[self.nin :]:
            if not isinstance(x, Base):
                raise TypeError("Output arguments must be cupy.ndarray")
        outs = list(args[self.nin :])
        types = dtypes_of(self.params[: len(given)], given, {})
        kinds = [concrete(p, types, self.name) for p in self.params]
        values = values_of(given, kinds[: len(given)])
        shape = self._shape(values, size)
        if not outs:
            if size is None or not any(p.is_raw for p in self.out_params):
                like = next((x for x in values if isinstance(x, Base)), None)
                made = [new_array(shape, k, like) for k in kinds[self.nin :]]
            else:
                made = [new_array(shape, k) for k in kinds[self.nin :]]
            if (
                any(p.is_raw for p in self.out_params)
                and size is None
                and all(p.is_raw for p in self.params)
            ):
                raise ValueError("Output array size is Undecided")
            values += made
        again = self._run(values, kinds, types, shape, block_size)
        if again and size is None and block_size == THREADS:
            self._note(args, again, kinds, shape)
        outs = outs or [as_cupys(x) for x in values[self.nin :]]
        return self._given(outs)

    def _given(self, outs: list[Any]) -> Any:
        if self.no_return:
            return None
        return outs[0] if len(outs) == 1 and not self.return_tuple else tuple(outs)

    def _note(self, args: Any, found: Any, kinds: Any, shape: Any) -> None:
        """Keeps what is known of a call without raw arrays, for others that look like it."""
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        arrays = [x for x in args if isinstance(x, Base)]
        if arrays and all(type(x) is ndarray for x in arrays):
            self._plans[look(args)] = *found, shape, kinds[self.nin :], arrays[0]._place

    def _again(self, plan: Any, args: Any) -> Any:
        """A call that looks like one before."""
        kernel, blocks, head, converts, shape, kinds, place = plan
        outs = list(args[self.nin :]) or [room(shape, kind, place) for kind in kinds]
        launch(kernel, blocks, THREADS, (*head, *seen((*args[: self.nin], *outs), converts)))
        return self._given([as_cupys(x) for x in outs])

    def _shape(self, values: list[Any], size: int | None) -> tuple[int, ...]:
        """The shape that the elements have: that of all arrays that are not raw."""
        shapes = [
            x.shape
            for x, p in zip(values, self.params, strict=False)
            if isinstance(x, Base) and not p.is_raw
        ]
        if size is not None:
            if shapes:
                raise ValueError(
                    "Specified 'size' can be used only if all of the ndarray are 'raw'."
                )
            return (size,)
        if not shapes:
            if any(not p.is_raw for p, _ in zip(self.in_params, values, strict=False)) and not any(
                isinstance(x, Base) for x in values
            ):
                return ()
            raise ValueError("Loop size is undecided.")
        shape = tn.broadcast_shapes(*shapes)
        for x, p in zip(values[self.nin :], self.out_params, strict=False):
            if not p.is_raw and x.shape != shape:
                raise ValueError("Out shape is mismatched")
        return tuple(shape)

    def _run(self, values: list[Any], kinds: Any, types: Any, shape: Any, block: int) -> Any:
        """Launches; gives what is needed to do so again: kernel, blocks, first arguments, how it sees the others."""
        n = math.prod(shape)
        if not n:
            return None
        args, layouts, written = [], [], []
        for k, (x, p) in enumerate(zip(values, self.params, strict=True)):
            if p.is_raw and isinstance(x, Base):
                flat = (
                    x.reshape(-1) if x.flags.c_contiguous else tn.ascontiguousarray(x).reshape(-1)
                )
                if k >= self.nin and not x.flags.c_contiguous:
                    written.append((x, flat))
                args.append(flat)
                layouts.append("raw")
                continue
            layouts.append(_Layout.of(x, shape))
            if layouts[-1] == _Layout.FLAT:
                x = x.reshape(-1)
            elif layouts[-1] == _Layout.STEPS:
                x = tn.broadcast_to(x, shape) if x.shape != shape else x
                x = x if shape else x.reshape(1)
            args.append(x)
        rank = max(len(shape), 1) if _Layout.STEPS in layouts else 0
        is_wide = rank > 1 and shape[-1] >= WIDE
        kernel, uses = self._kernel(tuple(kinds), types, tuple(layouts), rank, is_wide)
        extra = [_fact(use, values, self.params, shape) for use in uses]
        dims = [int(d) for d in (shape[1:] if rank else ())]
        if is_wide:
            blocks: Any = -(-shape[-1] // block), min(n // shape[-1], MOST_ROWS)
        else:
            blocks = min(-(-n // block), MOST_BLOCKS)
        launch(kernel, blocks, block, (n, *dims, *args, *extra))
        for x, flat in written:
            x[...] = flat.reshape(x.shape)
        converts = views_of(values, args, kinds)
        return (
            None
            if uses or "raw" in layouts or converts is None
            else (kernel, blocks, (n, *dims), converts)
        )

    def _kernel(
        self, kinds: Any, types: Any, layouts: Any, rank: int, is_wide: bool
    ) -> tuple[Any, list[str]]:
        key = kinds, tuple(sorted(types.items(), key=str)), layouts, rank, is_wide
        if key not in self._kernels:
            source, unit, uses = _Source(self, kinds, types, layouts, rank, is_wide).made()
            self._kernels[key] = launched(source, unit, self.name), uses
        found: tuple[Any, list[str]] = self._kernels[key]
        return found

    def source(self, *args: Any) -> str:
        """The kernel of threads that arguments get, as text."""
        given = [checked(x, self.name) for x in args]
        types = dtypes_of(self.params[: len(given)], given, {})
        kinds = tuple(concrete(p, types, self.name) for p in self.params)
        layouts = tuple("raw" if p.is_raw else _Layout.FLAT for p in self.params)
        text, unit, _ = _Source(self, kinds, types, layouts, 0).made()
        return "\n".join([*unit.sources[1:], text])


def _fact(use: str, values: Any, params: Any, shape: Any) -> Any:
    """What ``x.shape()``, ``x.strides()`` or ``x.ndim`` is."""
    name, _, what = use.partition(".")
    if name == "_ind":
        raise CError(
            f"{use}() is not understood in an elementwise kernel; i is the place of the element"
        )
    x = next(v for v, p in zip(values, params, strict=True) if p.name == name)
    return {
        "ndim": x.ndim,
        "shape": tuple(map(int, x.shape)),
        "strides": tuple(map(int, x.strides)),
    }[what]


def unit_of(kernel: Any, kinds: Any, types: dict[str, Any]) -> Unit:
    """The types and the preamble of a kernel for arguments of these dtypes."""
    names = {**types}
    for prefix, params, some in (
        ("in", kernel.in_params, kinds),
        ("out", kernel.out_params, kinds[kernel.nin :]),
    ):
        names |= {f"{prefix}{k}_type": some[k] for k in range(len(params))}
    names |= {f"{p.name}_type": kind for p, kind in zip(kernel.params, kinds, strict=True)}
    return Unit(read_preamble(kernel.preamble, set(names)), names)


class _Source:
    """The text of one kernel."""

    def __init__(
        self,
        kernel: ElementwiseKernel,
        kinds: Any,
        types: dict[str, Any],
        layouts: Any,
        rank: int,
        is_wide: bool = False,
    ) -> None:
        self.kernel, self.kinds, self.layouts, self.rank = kernel, kinds, layouts, rank
        self.is_wide = is_wide  # a block has elements of one row, so that no thread divides by the extent of rows
        self.unit = unit_of(kernel, kinds, types)
        self.body = Body(self.unit)

    def parsed(self, text: str) -> Node:
        return Parser(tokens_of(text, self.unit.preamble.macros), self.unit.types).statements()

    def made(self) -> tuple[str, Unit, list[str]]:
        body, kernel = self.body, self.kernel
        operation = self.parsed(kernel.operation)
        self._declare()
        at = "k_last" if self.is_wide else "v_i"
        body.emit(f"{at} = int64(cuda.grid(1))")
        if self.is_wide:
            body.emit(f"k_row = int64(cuda.blockIdx.y)\n    k_rows = v_n // d_{self.rank - 1}")
        body.emit(f"k_step = int64(cuda.{'gridDim.y' if self.is_wide else 'gridsize(1)'})")
        self._outside(kernel.loop_prep)
        body.emit(
            f"while k_row < k_rows and k_last < d_{self.rank - 1}:"
            if self.is_wide
            else "while v_i < v_n:"
        )
        body.indent += 1
        if self.is_wide:
            body.emit(f"v_i = k_row * d_{self.rank - 1} + k_last")
        start = len(body.lines)
        self._load(operation)
        body.leave = self._leave
        body.block(operation)
        body.leave = None
        if body.done:
            body.lines.insert(start, "    " * body.indent + "k_done = False")
        self._store()
        body.indent -= 1
        self._outside(kernel.after_loop)
        uses = sorted(body.uses)
        params = [
            "v_n",
            *(f"d_{k}" for k in range(1, self.rank)),
            *self._texts(),
            *(_named(u) for u in uses),
        ]
        return f"def kernel({', '.join(params)}):\n" + "\n".join(body.lines) + "\n", self.unit, uses

    def _outside(self, text: str) -> None:
        if text.strip():
            for statement in self.parsed(text).parts:
                self.body.run(statement)

    def _texts(self) -> list[str]:
        prefix = {"raw": "a_", _Layout.NUMBER: "s_"}
        return [
            f"{prefix.get(how, 'p_')}{p.name}"
            for p, how in zip(self.kernel.params, self.layouts, strict=True)
        ]

    def _declare(self) -> None:
        self.body.declare("i", LONG)
        self.body.declare("n", LONG)
        for p, kind, how, text in zip(
            self.kernel.params, self.kinds, self.layouts, self._texts(), strict=True
        ):
            if how == "raw":
                self.body.declare(p.name, kind, "raw", text)
            else:
                self.body.declare(p.name, kind)

    def _places(self) -> str:
        """The index of this element along each axis."""
        if self.rank <= 1:
            return "v_i"
        return ", ".join(f"k_{d}" for d in range(self.rank))

    def _load(self, operation: Node) -> None:
        body = self.body
        if self.rank > 1:
            body.emit(f"k_rest = {'k_row' if self.is_wide else 'v_i'}")
            if self.is_wide:
                body.emit(f"k_{self.rank - 1} = k_last")
            for d in range(self.rank - 1 - self.is_wide, 0, -1):
                body.emit(f"k_{d} = k_rest % d_{d}")
                body.emit(f"k_rest = k_rest // d_{d}")
            body.emit("k_0 = k_rest")
        for k, (p, how, text) in enumerate(
            zip(self.kernel.params, self.layouts, self._texts(), strict=True)
        ):
            if how == "raw" or (k >= self.kernel.nin and _is_set_first(operation, p.name)):
                continue
            place = {_Layout.NUMBER: "", _Layout.FLAT: "[v_i]"}.get(how, f"[{self._places()}]")
            body.emit(f"v_{p.name} = {text}{place}")

    def _store(self) -> None:
        nin = self.kernel.nin
        for p, how in list(zip(self.kernel.params, self.layouts, strict=True))[nin:]:
            if how != "raw":
                place = "v_i" if how == _Layout.FLAT else self._places()
                self.body.emit(f"p_{p.name}[{place}] = v_{p.name}")
        self.body.emit(f"{'k_row' if self.is_wide else 'v_i'} += k_step")

    def _leave(self) -> None:
        self._store()
        self.body.emit("continue")


def _named(use: str) -> str:
    name, _, what = use.partition(".")
    return f"{what}_{name}"


def _is_set_first(node: Node, name: str) -> bool:
    """Whether the first statement with a name sets it, whatever its value was."""
    for statement in node.parts:
        if _leaves(statement):
            return False
        if not _mentions(statement, name):
            continue
        if statement.kind in ("block", "group"):
            return _is_set_first(statement, name)
        inner = statement.parts[0] if statement.kind == "expression" else statement
        return bool(
            inner.kind == "assign" and inner.parts[0] == "=" and inner.parts[1].kind == "name"
            and inner.parts[1].parts[0] == name and not _mentions(inner.parts[2], name)
        )  # fmt: skip
    return False


def _leaves(node: Any) -> bool:
    """Whether a statement may end the operation."""
    if isinstance(node, Node):
        return node.kind in ("return", "continue") or any(map(_leaves, node.parts))
    return isinstance(node, tuple) and any(map(_leaves, node))


def _mentions(node: Any, name: str) -> bool:
    if isinstance(node, Node):
        return (node.kind == "name" and node.parts[0] == name) or any(
            _mentions(p, name) for p in node.parts
        )
    return isinstance(node, tuple) and any(_mentions(p, name) for p in node)
