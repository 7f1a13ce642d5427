# SPDX-License-Identifier: Apache-2.0
"""Random statements of NumPy as text: templates, and what stands in their slots.

A template is a statement with slots in braces. ``{a|b|}`` is one of its alternatives, which may have no braces of their
own; ``{x}`` and ``{y}`` are expressions of arrays, ``{o}`` one of an array or a number; the other slots are the methods
``slot_*`` of `Source`. ``m`` is the module, NumPy or ours. Results of EXACT are the same to the bit, those of NEAR to
some units in the last place; WEIGHTS says how often a family is drawn.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(), (1,), (5,), (3, 4), (4, 3), (3, 1), (1, 4), (2, 3, 4), (0, 3), (3, 0), (0,), (17,), (4, 4), (2, 1, 3)]
WORDS = {
    "two": "add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift floor_divide remainder fmod "
    "divide copysign nextafter gcd lcm heaviside ldexp",
    "one": "negative positive absolute fabs rint sign conjugate square sqrt reciprocal invert logical_not isnan isinf "
    "isfinite signbit floor ceil trunc spacing bitwise_count",
    "near_one": "exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
    "arccosh arctanh deg2rad rad2deg",
    "near_two": "power arctan2 hypot logaddexp logaddexp2",
    "fold": "add multiply maximum minimum logical_and logical_or bitwise_or bitwise_and bitwise_xor logical_xor "
    "subtract hypot gcd",
    "single": "sum prod mean var std nansum nanprod nanmean nanvar nanstd nanmax nanmin",
    "ordered": "max min ptp median nanmedian all any count_nonzero argmax argmin nanargmax nanargmin amax amin",
    "running": "cumsum cumprod nancumsum nancumprod",
    "sets": "union1d intersect1d setdiff1d setxor1d",
    "parts": "real imag isreal iscomplex isposinf isneginf iscomplexobj fix conj real_if_close",
    "near_parts": "angle i0 sinc",
    "multiply": "dot matmul inner outer kron vdot",
    "sign": "+ - * / // % & | ^ << >> < <= == != > >=",
    "written": "+= -= *= /= //= %= &= |= ^= <<= >>=",
}
NUMBERS = [
    *("0", "1", "-1", "2", "3", "2.5", "-0.0", "True", "float('nan')", "float('inf')", "300", "1j", "2**40", "-2**63"),
    *("np.float32(1.5)", "np.int8(-7)", "np.uint64(5)", "np.float16(2)"),
]
VIEWS = [
    *("[::-1]", "[1:]", "[::2]", "[..., ::-1]", ".T", "[None]", "[..., 1:]", "[::-2]", "[..., ::-2]", "[1:][::-1]"),
    *("[...]", "[..., None]", ".real", ".imag", "[:-1]", "[-2:]", "[:0]", ".swapaxes(0, -1)", ".reshape(-1)", "[0:1]"),
]
EXACT = {
    "elements": [
        "m.{two}({x}, {o}{out}{casting}{dtype})",
        "m.{two}({o}, {x}{casting})",
        "m.{one}({x}{out}{casting}{dtype})",
        "m.{divmod|floor_divide}({x}, {o})",
        "m.{modf|frexp}({x})",
        "{x} {sign} {o}",
        "{o} {sign} {x}",
        "m.{two}.outer({x}, {o}{dtype})",
    ],
    "written": [
        'run("""t = {x}; t {written} {o}""")',
        "{x}.__setitem__({key}, {o})",
        "{x}.flat.__setitem__({flat}, {o})",
        "m.copyto({x}, {o}{casting}{where})",
        "m.put({x}, {places}, {o}{mode})",
        "m.place({x}, {x} > {0|1|9}, {[1, 2]|3|[]|[-1.5, 300]})",
        "m.putmask({x}, {x} > 1, {n})",
        "m.fill_diagonal({x}, {o}, {True|False})",
        "{x}.fill({n})",
        'run("""t = {x}; t.{real|imag} = {o}""")',
        'run("""t = {x}; t.sort({0|-1})""")',
        "m.put_along_axis({x}, m.argsort({x}, {0|-1}, kind=\"stable\"), {n}, {0|-1})",
    ],
    "read": [
        "{x}[{key}]",
        "{x}.flat[{flat}]",
        "m.take({x}, {places}, axis={single_axis}{mode})",
        "m.choose({[0, 1, 0, 1]|[[1], [0], [2]]}, [{o}, {o}]{mode})",
        "m.compress({[True, False, True]|[0, 1]|[]|[False] * 9}, {x}, axis={single_axis})",
        "m.extract({y}, {x})",
        "m.take_along_axis({x}, m.argsort({y}, {0|-1}, kind='stable'), {0|-1})",
        "m.select([{x} > 0, {y} < 1], [{x}, {o}], {0|-1|2.5})",
        "m.where({y}, {o}, {o})",
        "m.where({x})",
        "m.clip({x}, {o}, {None|1|2.5}{dtype})",
        "m.{diagonal|diag|tril|triu}({x}, {0|1|-1|7})",
        "m.{parts}({x})",
        "m.{isclose|allclose|array_equal|array_equiv}({x}, {o})",
        "m.nan_to_num({x}{, nan=7|, posinf=1, neginf=-1|})",
    ],
    "order": [
        "m.sort({x}, axis={single_axis}{, kind='stable'|})",
        "m.argsort({x}, axis={single_axis}, kind='stable')",
        "m.lexsort(({x}, {x}))",
        "m.searchsorted(m.sort(m.ravel({x})), {o}{, side='right'|})",
        "m.unique({x}{, return_index=True|, return_inverse=True|, return_counts=True|})",
        "m.isin({x}, {o}{, invert=True|})",
        "m.digitize({x}, {[0, 1, 2]|[3, 1, 0]|[0.5]|[]}{, right=True|})",
        "m.{sets}({x}, {y})",
        "m.{nonzero|flatnonzero|argwhere}({x})",
    ],
    "made": [
        "m.{zeros_like|ones_like}({x}{dtype}{layout})",
        "m.full_like({x}, {o}{dtype}{layout})",
        "m.{array|asarray|copy}({x}{layout})",
        "m.array([{x}, {x}]{dtype})",
        "{x}.astype({to}{layout}{casting})",
        "m.full({3|(2, 3)|()|(0,)}, {o}{dtype})",
        "m.arange({5|0, 3, .5|5, 0, -2|3.0|-4|1, 1|1, 10, 3}{dtype})",
        "m.{eye|tri}({3|2, 4|0}{dtype})",
        "m.meshgrid({x}, {y}{, indexing='ij'|, sparse=True|})",
        "m.diagflat({x}, {0|1|-1})",
        "m.block([{x}, {x}])",
        "m.broadcast_arrays({x}, {o})",
    ],
    "shape": [
        "{x}.reshape({-1|(2, -1)|(-1, 1, 2)|()|(3, 4)|(0, -1)}{layout})",
        "m.ravel({x}{layout})",
        "m.{swapaxes|moveaxis}({x}, {0|-1|1}, {0|-1})",
        "m.roll({x}, {1|-2|0|100}, axis={single_axis})",
        "m.rot90({x}, {0|1|2|3|-1})",
        "m.{flip|squeeze}({x}, {axis})",
        "m.expand_dims({x}, {0|-1|(0, 2)|5})",
        "m.concatenate([{x}, {y}], axis={single_axis}{dtype})",
        "m.{stack|vstack|hstack|dstack|column_stack}([{x}, {x}])",
        "m.{split|array_split}({x}, {2|[1]|3|[0, 2, 9]}, axis={0|-1|1})",
        "m.tile({x}, {2|(2, 1)|0|(1, 2, 2)})",
        "m.repeat({x}, {2|0|[1, 2, 0]|[3]|-1}, axis={single_axis})",
        "m.pad({x}, {1|(1, 2)|0|3}, '{constant|edge|wrap|reflect|symmetric|maximum|minimum}')",
        "m.broadcast_to({x}, {(3, 4)|(2, 3, 4)|(5,)})",
        "m.insert({x}, {0|[0, 1]|-1|9}, {o}, axis={single_axis})",
        "m.delete({x}, {0|[0, 1]|-1|9|[]}, axis={single_axis})",
        "m.append({x}, {o}, axis={None|0})",
        "m.{packbits|unpackbits}({x}, axis={0|-1})",
    ],
    "text": [
        "{repr|str|len|list|int|float|bool|complex}({x})",
        "{x}.{tolist|tobytes|item|nonzero}()",
        "{x}.{shape|size|nbytes|itemsize|dtype|flags.c_contiguous|flags.writeable}",
        "pickle.loads(pickle.dumps({x}))",
        "m.array2string({x}, {precision=3|threshold=3|separator=','})",
        "m.{result_type|can_cast}({x}, {to})",
    ],
}
NEAR = {
    "elements": ["m.{near_one}({x}{out})", "m.{near_two}({x}, {o}{casting})", "{x} ** {o}", "m.{near_parts}({x})"],
    "fold": [
        "m.{fold}.reduce({x}, axis={axis}{keeps}{initial}{where}{dtype})",
        "m.{single}({x}, axis={axis}{keeps}{dtype})",
        "m.{ordered}({x}, axis={single_axis})",
        "m.average({x}, axis={axis})",
        "m.{fold}.accumulate({x}, axis={single_axis}{dtype})",
        "m.{fold}.reduceat({x}, {[0]|[0, 1]|[1, 0, 2]}, axis={0|-1})",
        "m.{add|multiply|maximum|minimum|subtract}.at({x}, {key}, m.ravel({o}))",
        "m.{running}({x}, axis={single_axis}{dtype})",
        "m.{diff|trapezoid|gradient|unwrap}({x})",
        "m.{percentile|nanpercentile}({x}, {50|[0, 25, 100]}, axis={axis})",
        "m.bincount(m.ravel({x}) & 63{, minlength=7|})",
        "m.histogram({x}, {4|[-1, 0, 3]})",
    ],
    "products": [
        "m.{multiply}({x}, {y})",
        "m.{multiply}({x}, {x}.T)",
        "m.{matvec|vecdot|vecmat}({x}, {y})",
        "m.tensordot({x}, {y}, {0|1|2|(0, 1)|([0], [0])})",
        "m.einsum('{i|ij|ijk|...i}{|->i|->}', {x})",
        "m.einsum('{i|ij|ijk},{i|ij|jk}{|->i|->}', {x}, {y})",
        "m.{convolve|correlate}({x}, {y}{, 'same'|, 'valid'|})",
        "m.{cov|corrcoef}({x})",
        "m.{cross|polyval}({x}, {y})",
        "m.linalg.norm({x}{, 1|, np.inf|, axis=-1|})",
        "m.{interp}({x}, [0, 1, 2], [3, 5, 4])",
        "m.round({x}, {0|1|-1|2})",
        "m.trace({x}, {0|1|-1})",
    ],
}
WEIGHTS = {
    **{"elements": 6, "written": 4, "read": 4, "order": 2, "made": 2, "shape": 3, "text": 1, "fold": 5},
    "products": 3,
}


class Source:
    """Statements on the arrays of `names`, by name, NumPy's."""

    def __init__(self, rng: np.random.Generator, names: dict[str, np.ndarray]) -> None:
        self.rng, self.names = rng, names
        self.array = np.zeros(())  # the first one of the statement

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def statement(self) -> tuple[str, bool]:
        """A statement, and whether its results are exact."""
        family = self.pick([name for name, n in WEIGHTS.items() for _ in range(n)])
        exact = [(text, True) for text in EXACT.get(family, [])]
        text, is_exact = self.pick(exact + [(text, False) for text in NEAR.get(family, [])])
        x = self.slot_y()
        self.array = eval(x, {"np": np}, self.names)  # noqa: S307  our own text
        return re.sub(r"\{([^{}]*)\}", lambda found: x if found[1] == "x" else self.slot(found[1]), text), is_exact

    def slot(self, name: str) -> str:
        if "|" in name:
            return self.pick(name.split("|"))
        if name in WORDS:
            return self.pick(WORDS[name].split())
        made = getattr(self, f"slot_{name}", None)
        return made() if made else name

    def slot_y(self) -> str:
        name = self.pick(list(self.names))
        for _ in range(int(self.rng.integers(2))):
            view = self.pick(VIEWS)
            try:
                eval(name + view, {"np": np}, self.names)  # noqa: S307
            except (IndexError, ValueError, np.exceptions.AxisError):
                continue
            name += view
        return name

    def slot_o(self) -> str:
        return self.slot_n() if self.chance(0.25) else self.slot_y()

    def slot_n(self) -> str:
        return self.pick(NUMBERS)

    def slot_to(self) -> str:
        return repr(self.pick(DTYPES))

    def slot_out(self) -> str:
        like = [name for name, a in self.names.items() if a.shape == self.array.shape]
        if not like or self.chance(0.75):
            return ""
        place = self.pick(["", "", "[::-1]", "[..., ::-1]", "[...]", ".T"])
        return f", out={self.pick(like)}{place}{self.slot_where()}"  # without a place what is left out is anything

    def slot_where(self) -> str:
        masks = [name for name, a in self.names.items() if a.dtype == bool]
        return f", where={self.pick(masks)}" if masks and self.chance(0.1) else ""

    def slot_dtype(self) -> str:
        return f", dtype={self.slot_to()}" if self.chance(0.15) else ""

    def slot_casting(self) -> str:
        return f", casting={self.pick(['no', 'safe', 'same_kind', 'unsafe'])!r}" if self.chance(0.15) else ""

    def slot_layout(self) -> str:
        return f", order={self.pick('CFA')!r}" if self.chance(0.3) else ""

    def slot_keeps(self) -> str:
        return f", keepdims={self.pick([True, False])}" if self.chance(0.3) else ""

    def slot_initial(self) -> str:
        return f", initial={self.slot_n()}" if self.chance(0.1) else ""

    def slot_mode(self) -> str:
        return self.pick(["", "", ", mode='wrap'", ", mode='clip'"])

    def slot_places(self) -> str:
        return self.pick(["[0]", "[0, -1]", "[[0, 1], [1, 0]]", "[-1, 0, 2]", "1", "[]", "[5, -6]", "[True, False]"])

    def slot_single_axis(self) -> str:
        return self.pick([*map(str, range(-self.array.ndim, self.array.ndim)), "None"])

    def slot_axis(self) -> str:
        if self.array.ndim > 1 and self.chance(0.3):
            axes = self.rng.permutation(self.array.ndim)[: self.rng.integers(self.array.ndim + 1)]
            return str(tuple(int(d) for d in axes))
        return self.slot_single_axis()

    def index(self, n: int) -> str:
        """A part of a key, of an axis of that extent."""
        some = [int(i) for i in self.rng.integers(-n, n, self.rng.integers(4))] if n else []
        ends = [str(int(i)) if self.chance(0.5) else "" for i in self.rng.integers(-n - 1, n + 2, 2)]
        mask = [bool(i) for i in self.rng.integers(0, 2, n)]
        places = [str(some), f"m.array({some}, 'i8')", f"m.array({mask}, bool)"]
        spans = [":".join(ends), ":".join([*ends, self.pick(["1", "2", "-1", "-2"])])]
        return self.pick([str(some[0]) if some else "0", "None", *spans, *places])

    def slot_key(self) -> str:
        shape = self.array.shape or (1,)
        parts = [self.index(n) for n in shape[: self.rng.integers(len(shape) + 1)]]
        return f"np.s_[{', '.join(parts or ['...'])}]"

    def slot_flat(self) -> str:
        return f"np.s_[{self.index(self.array.size).replace('None', '0')}]"
