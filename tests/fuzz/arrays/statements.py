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

from . import families

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
    "of_masked": "sum prod mean var std max min all any cumsum argmax argmin ptp",
    "sign": "+ - * / // % & | ^ << >> < <= == != > >=",
    "written": "+= -= *= /= //= %= &= |= ^= <<= >>=",
    **families.WORDS,
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
    "masked": [
        "m.{two}({x}, {o}, out={z}, where={mask}{casting})",
        "m.{one}({x}, out={z}, where={mask})",
        "m.copyto({x}, {o}, where={mask}{casting})",
        "{x}.__setitem__({mask}, {n})",
        "m.where({mask}, {x}, {o})",
    ],
    "records": [
        "(r := m.zeros({3|(2, 3)|0}, {record}), r.__setitem__('f0', {n}), r['f0'], r.tolist())",
        "(r := m.ones(4, {record}), r[::-2]['f1'], r[['f1', 'f0']].dtype)",
        "(r := m.ones(4, {record}), r[1:]['f0'].__setitem__({0|...|[0, 2]}, {n}), r)",
        "(r := m.ones((4, 4), {record}), r.__setitem__({key}, r[{0|-1|..., 0}]), r.shape, r.strides)",
        "(r := m.zeros(3, {record}), r['f0'].__iadd__({1|2.5|1j|300}), r == r[::-1], str(r))",
        "(r := m.array([(1, 2), (3, 4)], {record}), {repr|str|len}(r[1:]), r.astype({record}))",
        "m.sort(m.array([(3, 1), (1, 2), (1, 1)], {record}){, order='f1'|, order=['f0', 'f1']|})",
        "pickle.loads(pickle.dumps(m.ones(2, {record})[::-1]))",
        "m.concatenate([m.ones(2, {record}), m.zeros(1, {record})])",
    ],
    "dates": [
        "{date} {- |+ |< |== }{date}",
        "{date} {+|-} {span}",
        "{span} {+|-|*|/|//|%|<|==} {span}",
        "{span} {*|/|//} {2|2.5|-1|0}",
        "m.{sort|unique|min|max|argmin|argsort|diff|isnat|flip|ravel|median|mean}({date})",
        "m.{sum|mean|min|max|abs|negative|sign|cumsum|isnat|ptp|median|std}({span})",
        "{date}.astype({'M8[D]'|'M8[s]'|'i8'|'M8[M]'|'f8'|str})",
        "{span}.astype({'m8[D]'|'m8[s]'|'i8'|'m8[M]'|'f8'})",
        "{repr|str|list}({date})",
        "m.{maximum|minimum|fmax}({date}, {date})",
        "(t := {date}, t.__setitem__({0|np.s_[::-2]|[0, 1]}, {'NaT'|'2001-01-01'|5|np.datetime64(3, 'D')}), t)",
        "m.busday_count({date}, {date})",
    ],
    "random": [
        "m.random.default_rng({seed}).{draw}",
        "(r := m.random.default_rng({seed}), r.{draw}, r.{draw})",
        "m.random.RandomState({seed}).{old_draw}",
        "(r := m.random.default_rng({seed}), t := {x}.copy(), r.shuffle(t), t)",
        "m.random.default_rng({seed}).{permutation|choice}({x})",
    ],
    "print": [
        "{repr|str}({x})",
        "m.array2string({x}{, precision=3|, threshold=3, edgeitems=1|, separator=', '|, floatmode='fixed'})",
        "m.array_repr({x}{, 20|, 40, 3|, suppress_small=True})",
        "shown({x}, {precision=2|suppress=True|threshold=2, edgeitems=1|sign='+'|floatmode='unique'})",
        "f'{{x}}'",
        "m.format_float_{positional|scientific}({2.5|1e-10|np.float32(0.1)|1e22}{, precision=3|, trim='-'|})",
        "m.array_str({x}[..., None])",
        "repr(m.asarray({x}, order='F')[::-1])",
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
    "masked": [
        "m.{near_one}({x}, out={z}, where={mask})",
        "m.{fold}.reduce({x}, axis={axis}{keeps}{initial}, where={mask}{dtype})",
        "m.{sum|prod|mean|var|std|max|min|all|any}({x}, axis={axis}{keeps}{, initial=1|, initial=-3|}, where={mask})",
    ],
    "masked_arrays": [
        "plain(m.ma.array({x}, mask=({x} > 1)).{of_masked}(axis={single_axis}))",
        "plain(m.ma.array({x}, mask=({x} > 1)) {sign} {o})",
        "plain(m.ma.masked_{where|greater|less|equal|invalid}({x}, {y}))",
        "plain(m.ma.masked_{greater|less|equal|values}({x}, {1|2.5|0}))",
        "plain(m.ma.{masked_invalid|median|sort|sqrt|log|average|count|compressed}(m.ma.array({x}, mask=({x} > 1))))",
        "plain(m.ma.{concatenate|vstack|hstack|stack}([m.ma.array({x}, mask=({x} > 1)), {x}]))",
        "plain(m.ma.array({x}, mask=({x} > 1))[{key}])",
        "(t := m.ma.array({x}, mask=({x} > 1)), t.__setitem__({key}, {1|m.ma.masked|2.5}), plain(t))",
        "{repr|str}(m.ma.array({x}, mask=({x} > 1)))",
        "plain(m.ma.array({x}, mask=({x} > 1), fill_value={1|2.5|-1}).filled())",
    ],
    "linalg": [
        "m.linalg.{inv|det|slogdet|cond|matrix_rank|pinv}({matrix})",
        "m.linalg.solve({matrix}, {matrix}{[0]|[:, :2]|[:, ::-1]|})",
        "abs(m.linalg.qr({matrix})[1])",
        "m.linalg.{eigvalsh|svdvals}({matrix} + {matrix}.T)",
        "m.linalg.cholesky(({matrix} + {matrix}.T) * 3)",
        "m.linalg.matrix_power({matrix} / 100, {0|1|3|-1})",
        "m.linalg.lstsq({matrix}, {matrix}[0], rcond=None)[0]",
        "m.linalg.{norm|vector_norm|matrix_norm}({matrix}{, ord=1|, ord=-np.inf|})",
        "m.linalg.{multi_dot|norm}([{matrix}, {matrix}, {matrix}])",
        "m.linalg.{inv|solve|det|eigvalsh}({x})",
    ],
    "fft": [
        "m.fft.{fft|ifft|rfft|irfft|hfft|ihfft}({x} % 7{, 4|, 9|, axis=0|, norm='ortho'|})",
        "m.fft.{fft2|ifft2|fftn|ifftn|rfft2|rfftn|irfftn}({x} % 7{, norm='forward'|, axes=(0, 1)|, axes=(-1,)|})",
        "m.fft.{fftshift|ifftshift}(m.atleast_1d({x}){, 0|, -1|})",
        "m.fft.{fftfreq|rfftfreq}({0|1|5|8}{, 0.5|})",
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
    **{"masked": 3, "records": 1, "dates": 2, "random": 1, "print": 1, "masked_arrays": 2, "linalg": 1, "fft": 1},
}
BIG = [1023, 1024, 1025, 4095, 4096, 4097, 8192, 8193, 65535, 65536, 65538]
CHARS = [
    *("['a', 'Bc ', '', ' aB9']", "[b'a', b'Bc ', b'', b'9']", "[['1', '22'], ['3.5', '-4']]", "'abc'", "[], 'U3'"),
    *("['abc'] * 4, 'S2'", "['12', '-7', '0', '3']", "['\\u00e9', '\\u00df x', 'A', '\\n']"),
]

EXACT.update(families.EXACT)
NEAR.update(families.NEAR)
WEIGHTS.update(families.WEIGHTS)


class Source:
    """Statements on the arrays of `names`, by name, NumPy's; of some families alone where they are named."""

    def __init__(self, rng: np.random.Generator, names: dict[str, np.ndarray], some: Any = ()) -> None:
        self.rng, self.names = rng, names
        self.families = [name for name, n in WEIGHTS.items() for _ in range(n) if not some or name in some]
        self.array = np.zeros(())  # the first one of the statement

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def statement(self) -> tuple[str, bool]:
        """A statement, and whether its results are exact."""
        family = self.pick(self.families)
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

    def slot_z(self) -> str:
        """An array that a result may be written to, of the statement's first one's shape where there is one."""
        like = [name for name, a in self.names.items() if a.shape == self.array.shape] or list(self.names)
        return self.pick(like) + self.pick(["", "", "[::-1]", "[..., ::-1]", "[...]", ".T"])

    def slot_mask(self) -> str:
        shape = self.array.shape
        some = [list(map(bool, self.rng.integers(0, 2, n))) for n in shape[-1:]]
        alike = [name for name, a in self.names.items() if a.shape == shape] or list(self.names)
        masks = [f"({self.pick(alike)} {self.pick(['>', '!=', '<='])} {self.pick(['0', '2'])})", "True", "False"]
        return self.pick([*masks, masks[0], f"m.array({some[0] if some else True})", f"({self.slot_y()} > 0)"])

    def slot_record(self) -> str:
        return self.pick(["'i4,f8'", "'u1,c8'", "'f4,i2'", "np.dtype('i1,f8', align=True)", "'?,i8'", "'>i4,f4'"])

    def slot_seed(self) -> str:
        return str(int(self.rng.integers(100)))

    def slot_date(self) -> str:
        days = [int(i) for i in self.rng.integers(-400, 400, self.pick([0, 1, 3, 3, 3]))]
        unit = self.pick(["D", "D", "s", "M", "ns", "Y"])
        return f"m.array({days!r}, 'M8[{unit}]')" + self.pick(["", "[::-1]", "[1:]", "[:, None]", "[0]"])

    def slot_span(self) -> str:
        counts = [int(i) for i in self.rng.integers(-9, 9, self.pick([0, 1, 3, 3, 3]))]
        unit = self.pick(["D", "D", "s", "h", "ns", "M"])
        return f"m.array({counts!r}, 'm8[{unit}]')" + self.pick(["", "[::-1]", "[1:]", "[:, None]", "[0]"])

    def slot_size(self) -> str:
        return self.pick(["", "3", "(2, 3)", "()", "0", "(2, 0)", "None"])

    def slot_draw(self) -> str:
        call = self.pick(
            ["random(", "normal(1, 2, ", "integers(5, 9, ", "standard_normal(", "exponential(2, ", "uniform(-1, 2, ",
             "poisson(3, ", "binomial(5, 0.3, ", "integers(0, 2**40, ", "gamma(2.5, 1, ", "choice(7, ", "beta(1, 2, ",
             "standard_normal(dtype='f4', size=", "random(dtype='f4', size=", "integers(0, 5, dtype='i1', size=",
             "normal([0, 1, 2], 1, "]
        )  # fmt: skip
        return f"{call}{self.slot_size() or 'None'})"

    def slot_old_draw(self) -> str:
        calls = ["random_sample(", "normal(1, 2, ", "randint(5, 9, ", "uniform(-1, 2, ", "poisson(3, ", "choice(7, "]
        call = self.pick(calls)
        return f"{call}{self.slot_size() or 'None'})"

    def slot_size_of(self) -> str:
        return self.pick(["3", "(2, 3)", "None", "()", "0"])

    def slot_chars(self) -> str:
        return f"m.array({self.pick(CHARS)})" + self.pick(["", "", "[::-1]", "[..., None]", "[1:]"])

    def slot_big(self) -> str:
        """Numbers of a size around which other ways are taken."""
        n, step = self.pick(BIG), self.pick(["", "", "[::-1]", "[::3]"])
        return f"(m.arange({n}, dtype='i8') % 11 - {self.pick([0, 0, 4])}).astype({self.slot_to()}){step}"

    def slot_o_number(self) -> str:
        return self.pick([self.slot_n(), self.slot_n(), "m.arange(3)", "m.ones(1, 'f4')"])

    def slot_hidden(self) -> str:
        x = self.slot_y()
        return f"m.ma.array({x}, mask=({x} {self.pick(['>', '==', '<'])} {self.pick([1, 0])}))"

    def slot_pair(self) -> str:
        numbers = ["[[4.0, 1], [2, 3]]", "[[2, -1], [1, 5]], 'f4'", "[[3, 1j], [1, 2]]"]
        return f"m.array({self.pick(numbers)})"

    def slot_matrix(self) -> str:
        made = f"(m.resize({self.pick(list(self.names))} % 7, (4, 4)) + 20 * m.eye(4))"
        return made + self.pick(["", "", ".T", "[::-1, ::-1]", "[::-1, ::-1].T", "[:3, :3]"])

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
