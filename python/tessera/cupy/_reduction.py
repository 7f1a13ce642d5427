# SPDX-License-Identifier: Apache-2.0
"""ReductionKernel: what a C expression makes of elements, put together by another one, along axes.

    x of (rows, n) --> c_map of each element --> c_reduce of two values, again and again --> c_post --> y of (rows,)

A block of threads has a row, or a part of one where rows are few: then the parts are put together by a second launch.
Where
rows are many or short a thread has a row.
"""

from __future__ import annotations

import math
from typing import Any

from .. import numeric as tn
from ._boundary import Base
from ._c_emit import Body, Unit, cast
from ._c_parse import CError, Function, Node, Parser, tokens_of
from ._c_types import LONG
from ._kernels import MOST_PLANS, launch, launched, look, room, seen, unit_of, views_of
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

__all__ = ["ReductionKernel"]

_flat = Base.reshape
THREADS = 256
SHORT = 32  # elements of a row that one thread has
MANY = 4096  # blocks of parts of rows
MOST_THREADS = 1 << 18
PART = 1 << 14  # elements of a part of a row

_ROWS = """def kernel(rows, n, per, parts, {params}):
    s = cuda.shared.array({threads}, {type})
    t = cuda.threadIdx.x
    row = int64(cuda.blockIdx.x) // parts
    first = (int64(cuda.blockIdx.x) % parts) * per
    last = min(n, first + per)
    j = first + t
    if j < last:
        acc = c_map({given})
        j += {threads}
        while j + {three} < last:
            one = c_reduce(c_map({given}), c_map({next1}))
            acc = c_reduce(acc, c_reduce(one, c_reduce(c_map({next2}), c_map({next3}))))
            j += {four}
        while j < last:
            acc = c_reduce(acc, c_map({given}))
            j += {threads}
        s[t] = acc
    cuda.syncthreads()
    count = min(last - first, {threads})
    k = {half}
    while k > 0:
        if t < k and t + k < count:
            s[t] = c_reduce(s[t], s[t + k])
        cuda.syncthreads()
        k = k // 2
    if t == 0:
        {end}
"""
_THREADS = """def kernel(rows, n, per, parts, {params}):
    at = int64(cuda.grid(1))
    row = at % rows
    part = at // rows
    if part < parts:
        j = part * per
        last = min(n, j + per)
        acc = c_map({given})
        j += 1
        while j < last:
            acc = c_reduce(acc, c_map({given}))
            j += 1
        {end}
"""
_NOTHING = """def kernel(rows, {params}):
    row = int64(cuda.grid(1))
    if row < rows:
        acc = c_identity()
        {end}
"""


class ReductionKernel:
    """A reduction along axes.

    Parameters
    ----------
    in_params, out_params : str
        As of :class:`ElementwiseKernel`.
    map_expr, reduce_expr, post_map_expr : str
        Expressions in CUDA C: of the inputs; of two values ``a`` and ``b``; ``y = ..`` of the result ``a``.
    identity : str
        The result of no elements; without one those are a ValueError.
    name : str
    reduce_type : str, optional
        The type of values on the way; that of the first output.
    reduce_dims : bool
        Accepted.
    preamble : str
        Functions, types, constants, #define.
    options : tuple of str
        Of a compiler that is not there; accepted.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        check_name(name)
        self.name, self.preamble = name, preamble
        self.in_params, self.out_params = params_of(in_params, name), params_of(out_params, name)
        self.params = self.in_params + self.out_params
        self.nin, self.nout, self.nargs = (
            len(self.in_params),
            len(self.out_params),
            len(self.params),
        )
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity, self.reduce_type = "" if identity is None else str(identity), reduce_type
        self._kernels: dict[Any, Any] = {}
        self._plans: dict[Any, Any] = {}

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        axis: Any = None,
        keepdims: bool = False,
        stream: Any = None,
        dtype: Any = None,
    ) -> Any:
        """The reduction of arrays.

        Parameters
        ----------
        args : array or number
            The inputs; behind them the outputs, or none of those.
        out : array, optional
        axis : int or tuple of int, optional
            None: all.
        keepdims : bool
        stream : Stream, optional
        """
        key = None
        if out is None and stream is None and dtype is None and not isinstance(axis, list):
            key = look(args), axis, keepdims
            plan = self._plans.get(key)
            if plan is not None:
                return self._again(plan, args)
        if dtype is not None:
            raise TypeError(f"{self.name}: dtype= is not there; the types of the parameters say it")
        if stream is not None:
            with stream:
                return self(*args, out=out, axis=axis, keepdims=keepdims)
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}: {self.nin} or {self.nargs} expected, found {len(args)}"
            )
        if out is not None:
            if len(args) == self.nargs:
                raise ValueError("cannot specify 'out' as both a positional and keyword argument")
            args = (*args, *(out if isinstance(out, tuple) else (out,)))
        given = [checked(x, self.name) for x in args]
        types = dtypes_of(self.params[: len(given)], given, {})
        kinds = tuple(concrete(p, types, self.name) for p in self.params)
        values = values_of(given, kinds[: len(given)])
        shapes = [
            x.shape
            for x, p in zip(values, self.in_params, strict=False)
            if isinstance(x, Base) and not p.is_raw
        ]
        shape = shapes[0] if len(set(shapes)) == 1 else tuple(tn.broadcast_shapes(*shapes))
        axes = _axes(axis, len(shape))
        rest = tuple(n for d, n in enumerate(shape) if d not in axes)
        kept = tuple(1 if d in axes else n for d, n in enumerate(shape)) if keepdims else rest
        n = math.prod(shape[d] for d in axes)
        if n == 0 and not self.identity.strip():
            raise ValueError(
                f"zero-size array to reduction operation {self.name} which has no identity"
            )
        like = next((x for x in values if isinstance(x, Base)), None)
        outs = list(args[self.nin :])
        for x in outs:
            if tuple(x.shape) != kept:
                raise ValueError(f"{self.name}: out has shape {tuple(x.shape)}, the result {kept}")
        made = [new_array(rest, k, like) for k in kinds[self.nin :]]
        if math.prod(rest):
            again = self._run(values[: self.nin], made, kinds, types, shape, axes, rest, n)
            arrays = [x for x in args if isinstance(x, Base)]
            if (
                again
                and key
                and len(args) == self.nin
                and arrays
                and all(type(x) is ndarray for x in arrays)
            ):
                if len(self._plans) >= MOST_PLANS:
                    self._plans.clear()
                self._plans[key] = *again, rest, kept, kinds[self.nin :], arrays[0]._place
        shaped = [as_cupys(x if kept == rest else x.reshape(kept)) for x in made]
        for target, result in zip(outs, shaped, strict=False):
            target[...] = result
        outs = outs or shaped
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _again(self, plan: Any, args: Any) -> Any:
        """A call that looks like one before."""
        launches, between, converts, rest, kept, kinds, place = plan
        made = [room(rest, kind, place) for kind in kinds]
        values: list[Any] = seen(args, converts)
        last = [_flat(x, -1) for x in made]
        for kernel, blocks, head in launches[:-1]:
            values = [*values, room(*between, place)]
            launch(kernel, blocks, THREADS, (*head, *values))
            values = values[-1:]
        kernel, blocks, head = launches[-1]
        launch(kernel, blocks, THREADS, (*head, *values, *last))
        outs = [as_cupys(x if kept == rest else x.reshape(kept)) for x in made]
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _run(
        self,
        values: Any,
        made: Any,
        kinds: Any,
        types: Any,
        shape: Any,
        axes: Any,
        rest: Any,
        n: int,
    ) -> Any:
        """Launches; gives what is needed to do so again: launches, what is between them, how they see arguments."""
        rows = math.prod(rest)
        order = [d for d in range(len(shape)) if d not in axes] + list(axes)
        trailing = order == list(range(len(shape)))
        args, layouts = [], []
        for x, p in zip(values, self.in_params, strict=True):
            if p.is_raw and isinstance(x, Base):
                args.append(tn.ascontiguousarray(x).reshape(-1))
                layouts.append("raw")
            elif isinstance(x, Base):
                x = x if x.shape == shape else tn.broadcast_to(x, shape)
                args.append((x if trailing else x.transpose(order)).reshape(rows, n))
                layouts.append("array")
            else:
                args.append(x)
                layouts.append("number")
        flat = [x.reshape(-1) for x in made]

        def kernel(form: str) -> Any:
            key = form, kinds, tuple(sorted(types.items(), key=str)), tuple(layouts), trailing
            if key not in self._kernels:
                self._kernels[key] = _Source(self, kinds, types, layouts, trailing).made(form)
            return self._kernels[key]

        if n == 0:
            launch(kernel("nothing")[0], -(-rows // THREADS), THREADS, (rows, *flat))
            return None
        form, parts = "rows", 1
        if n <= SHORT or not trailing:
            form = "threads"
            parts = max(1, min(n // SHORT, MOST_THREADS // rows))
        elif n > PART:
            parts = max(1, min(-(-n // PART), MANY // rows))
        per = -(-n // parts)
        parts = -(-n // per)
        blocks = rows * parts if form == "rows" else -(-rows * parts // THREADS)
        last = [*args, *flat]
        launches, between = [(kernel(form)[0], blocks, (rows, n, n, 1))] if parts == 1 else [], None
        if parts > 1:
            first, kind = kernel(f"{form} parts")
            between = (parts, rows) if form == "threads" else (rows, parts), kind
            launches = [(first, blocks, (rows, n, per, parts))]
            last = [new_array(*between, made[0]), *flat]
            launch(first, blocks, THREADS, (*launches[0][2], *args, last[0]))
            blocks = rows if form == "rows" else -(-rows // THREADS)
            launches.append((kernel(f"{form} second")[0], blocks, (rows, parts, parts, 1)))
        launch(launches[-1][0], launches[-1][1], THREADS, (*launches[-1][2], *last))
        converts = None if "raw" in layouts else views_of(values, args, kinds)
        return None if converts is None else (launches, between, converts)


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = []
    for d in given:
        if not -rank <= d < rank:
            raise tn.exceptions.AxisError(d, rank)
        found.append(d % rank)
    if len(set(found)) != len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(sorted(found))


class _Source:
    """The functions and the text of one kernel."""

    def __init__(
        self, kernel: ReductionKernel, kinds: Any, types: Any, layouts: Any, trailing: bool
    ) -> None:
        self.kernel, self.kinds, self.layouts, self.trailing = kernel, kinds, layouts, trailing
        self.unit: Unit = unit_of(kernel, kinds, types)
        if kernel.reduce_type is None:
            self.type = kinds[kernel.nin]
        else:
            words = Parser(tokens_of(kernel.reduce_type), self.unit.types).type()
            self.type = self.unit.type_of(words, 1)
        self.unit.types["_type_reduce"] = self.unit.types["type_reduce"] = self.type

    def _expression(self, text: str) -> Node:
        parser = Parser(tokens_of(text, self.unit.preamble.macros), self.unit.types)
        node = parser.expression()
        parser.take(";")
        if parser.token.kind != "end":
            raise CError(
                f"{self.kernel.name}: an expression was expected, found {text!r}; a function of the "
                f"preamble may have statements"
            )
        return node

    def _define(self, name: str, body: Body, params: list[str], result: str) -> None:
        body.emit(f"return {result}")
        self.unit.sources.append(
            f"def {name}({', '.join(params)}):\n" + "\n".join(body.lines) + "\n"
        )

    def _inputs(self) -> list[str]:
        prefix = {"raw": "a_", "number": "s_", "array": "p_"}
        return [
            f"{prefix[how]}{p.name}"
            for p, how in zip(self.kernel.in_params, self.layouts, strict=True)
        ]

    def _map(self) -> None:
        """c_map: the value of an element."""
        body, texts = Body(self.unit), self._inputs()
        for name in ("i", "_i", "_j", "_J", "n"):
            body.declare(name, LONG, text={"_J": "v__j"}.get(name, f"v_{name}"))
        body.scopes.append({})
        for p, kind, how, text in zip(
            self.kernel.in_params, self.kinds, self.layouts, texts, strict=False
        ):
            made = body.declare(p.name, kind, *(("raw", text) if how == "raw" else ()))
            if how == "array":
                body.emit(f"{made.text} = {text}[v__i, v__j]")
            elif how == "number":
                body.emit(f"{made.text} = {text}")
        body.emit("v_i = v__i * v_n + v__j")
        node = self._expression(self.kernel.map_expr)
        if not self.trailing and _names(node) & {"i"}:
            raise CError(
                f"{self.kernel.name}: i is understood where the last axes are reduced; _j is the place along them"
            )
        text, found = body.value(node)
        self._define(
            "c_map",
            body,
            ["v__i", "v__j", "v_n", *texts],
            body.converted(text, found, self.type, node.line),
        )

    def _reduce(self) -> None:
        """c_reduce: two values as one."""
        node = self._expression(self.kernel.reduce_expr)
        words = (("_type_reduce",), "a"), (("_type_reduce",), "b")
        body = Node("block", 1, (Node("return", 1, (node,)),))
        text, _ = self.unit._function(
            "c_reduce", Function("reduce_expr", ("_type_reduce",), words, body, (), 1), {}
        )
        assert text == "c_reduce"

    def _identity(self, is_used: bool) -> None:
        """c_identity: what rows without elements become; a mistake in it is one of every row."""
        if not self.kernel.identity.strip():
            return
        body = Body(self.unit)
        text, found = body.value(self._expression(self.kernel.identity))
        if is_used:
            self._define("c_identity", body, [], cast(text, found, self.type))

    def _post(self) -> list[str]:
        """c_post: a tuple of what the outputs become; gives the texts of the outputs."""
        body = Body(self.unit)
        body.declare("a", self.type)
        outs = self.kernel.out_params
        for p, kind in zip(outs, self.kinds[self.kernel.nin :], strict=True):
            text = body.declare(p.name, kind).text
            body.emit(f"{text} = {'False' if kind.kind == 'b' else f'{kind.name}(0)'}")
        body.run(
            Parser(
                tokens_of(self.kernel.post_map_expr, self.unit.preamble.macros), self.unit.types
            ).statements()
        )
        texts = [f"v_{p.name}" for p in outs]
        self._define(
            "c_post", body, ["v_a"], f"({', '.join(texts)},)" if len(texts) > 1 else texts[0]
        )
        return [f"y_{p.name}" for p in outs]

    def _end(self, acc: str, outs: list[str], indent: int) -> str:
        if len(outs) == 1:
            return f"{outs[0]}[row] = c_post({acc})"
        pad = "\n" + "    " * indent
        return (
            f"made = c_post({acc})"
            + pad
            + pad.join(f"{y}[row] = made[{k}]" for k, y in enumerate(outs))
        )

    def made(self, form: str) -> tuple[Any, Any]:
        """The kernel of a form, and the type of values on the way."""
        form, _, stage = form.partition(" ")
        outs = ["found"] if stage == "parts" else self._post()
        inputs = ["found"] if stage == "second" else self._inputs()
        if stage == "second":
            place = "j, i" if form == "threads" else "i, j"
            self.unit.sources.append(f"def c_map(i, j, n, found):\n    return found[{place}]\n")
        elif form != "nothing":
            self._map()
        self._identity(form == "nothing")
        if form != "nothing":
            self._reduce()
        acc, place = (
            ("s[0]", "row, int64(cuda.blockIdx.x) % parts")
            if form == "rows"
            else ("acc", "part, row")
        )
        end = f"found[{place}] = {acc}" if stage == "parts" else self._end(acc, outs, 2)

        def given(j: str) -> str:
            return ", ".join(["row", j, "n", *inputs])

        text = {"threads": _THREADS, "nothing": _NOTHING, "rows": _ROWS}[form].format(
            params=", ".join([*([] if form == "nothing" else inputs), *outs]), given=given("j"), threads=THREADS,
            next1=given(f"j + {THREADS}"), next2=given(f"j + {2 * THREADS}"), next3=given(f"j + {3 * THREADS}"),
            three=3 * THREADS, four=4 * THREADS, half=THREADS // 2, end=end,
            type="bool" if self.type.kind == "b" else self.type.name,
        )  # fmt: skip
        self.unit.space["bool"] = bool
        return launched(text, self.unit, self.kernel.name), self.type


def _names(node: Any) -> set[str]:
    if isinstance(node, Node):
        if node.kind == "name":
            return {node.parts[0]}
        return set().union(*map(_names, node.parts)) if node.parts else set()
    return set().union(*map(_names, node)) if isinstance(node, tuple) and node else set()
