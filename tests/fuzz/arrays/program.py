# SPDX-License-Identifier: Apache-2.0
"""Programs of random statements (statements.py): NumPy and `tessera.numeric` run each, and what differs is printed.

    python tests/fuzz/arrays [--seed 1] [--programs 1000] [--first 0] [--device cuda] [--families fold fft]
"""

from __future__ import annotations

import argparse
import ast
import builtins
import collections
import copy
import datetime
import io
import pickle
import re
import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.lib.recfunctions  # a part that statements name
import tessera.numeric as tn
from tessera import _core

from .statements import DTYPES, SHAPES, WORDS, Source

STATEMENTS = 24
ALL = "abcdefgh"
ODD = [np.nan, -0.0, np.inf, -np.inf, 0.5, 1e-5, 6e4]


def made(rng: np.random.Generator) -> np.ndarray:
    """A random array."""
    shape, dtype = SHAPES[rng.integers(len(SHAPES))], np.dtype(DTYPES[rng.integers(len(DTYPES))])
    x = np.asarray(rng.integers(0 if dtype.kind == "u" else -5, 7, shape)).astype(dtype)
    if dtype.kind == "c":
        x = np.asarray(x + 1j * rng.integers(-3, 3, shape)).astype(dtype)
    if x.size and x.ndim and dtype.kind in "fc" and rng.integers(2):
        x.flat[int(rng.integers(x.size))] = ODD[rng.integers(len(ODD))]
    if x.size and x.ndim and dtype.kind in "iu" and rng.integers(3) == 0:
        x.flat[0] = np.iinfo(dtype).max if rng.integers(2) else np.iinfo(dtype).min
    return np.array(x, order="F") if rng.integers(5) == 0 else x


def plain(value: Any, m: Any) -> Any:
    """What a masked array holds, and its mask; other values as they are."""
    if value is m.ma.masked:
        return "masked"
    return (m.ma.getmaskarray(value), m.ma.filled(value, 0)) if isinstance(value, m.ma.MaskedArray) else value


def shown(a: Any, **options: Any) -> tuple[str, str]:
    """What is printed of an array under such options."""
    with np.printoptions(**options):
        return str(a), repr(a)


def steps(a: Any) -> list[int]:
    """The strides along axes of several elements: those along others NumPy gives as they happen to be."""
    return [step for step, n in zip(a.strides, a.shape, strict=True) if n > 1] if a.size else []


class Duck:
    """What has numbers only as an array of NumPy."""

    def __init__(self, a: Any) -> None:
        self.a = np.asarray(a)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.a, dtype, copy=copy)


class Refuses:
    """What no ufunc takes, and whose operators come first."""

    __array_ufunc__ = None

    def __radd__(self, other: Any) -> str:
        return "its own"


KIN = {m: type("Kin", (m.ndarray,), {}) for m in (np, tn)}


def settled(call: Any) -> Any:
    """What a call gives, once it is computed."""
    made = call()
    for each in made if isinstance(made, tuple) else [made]:
        if isinstance(each, tn.ndarray):
            np.asarray(each)
    return made


def strict(call: Any) -> Any:
    """What a call gives where warnings are raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", tn.FallbackWarning)
        return settled(call)


def under(m: Any, **options: Any) -> Any:
    """A function that calls one under `errstate`, of numbers below the range another one if it is named, as of those
    that C's functions meet on their way; with `call` also what was said, each once."""

    def run(call: Any, low: str | None = None) -> Any:
        said: list[Any] = []
        with m.errstate(**options, under=low, call=lambda kind, flag: said.append((kind, flag))):
            made = settled(call)
        return (made, sorted({kind for kind, _ in said})) if options["all"] == "call" else made

    return run


def into(m: Any) -> Any:
    """A function that gives what another one writes to `out=` of the shape and dtype that it needs, with gaps between
    the elements; `choose` of NumPy cannot write past gaps."""

    def run(call: Any, every: int = 2) -> Any:
        made = m.asarray(call(None))
        room = m.full((*made.shape, every), 3, made.dtype)
        return call(room[..., -1]), room

    return run


def outcome(text: str, m: Any, names: dict[str, Any]) -> tuple[Any, list[str]]:
    """What a statement gives, or its exception, and the categories of its warnings."""
    scope = {**names, "m": m, "np": np, "pickle": pickle, "io": io, "copy": copy, "Duck": Duck, "Refuses": Refuses}
    scope |= {"strict": strict, "called": under(m, all="call"), "raised": under(m, all="raise")}
    scope |= {"ignored": under(m, all="ignore"), "kin": lambda a: a.view(KIN[m]), "into": into(m)}
    scope["run"] = lambda lines: builtins.exec(lines, scope)
    scope |= {"shown": shown, "steps": steps}
    scope["plain"] = lambda value: plain(value, m)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            value = eval(text, scope)  # noqa: S307  our own text
            for a in [*names.values(), *(value if isinstance(value, (list, tuple)) else [value])]:
                if isinstance(a, tn.ndarray):
                    np.asarray(a)  # what waits is computed, and tells of faults
        except (SyntaxError, NameError):  # a fault of the template
            raise
        except Exception as error:  # noqa: BLE001  its class is compared
            value = error
    said = [each.category.__name__ for each in heard if not issubclass(each.category, tn.FallbackWarning)]
    return value, sorted(said)


class Bounds(NamedTuple):
    """What counts as a difference."""

    bits: bool = True  # every bit of numbers; else some units in the last place ..
    step: float = 0.0  # .. at most this by the numbers' size, where narrower floats than theirs compute them
    zeros: bool = True  # signs of zeros: NumPy's extremes and sorts leave them to the processor's vectors
    casts: bool = True  # what no number of u4 is as one: NumPy's differ from place to place
    fused: bool = True  # last bits of complex products, where NumPy's depend on how operands lie, and of roots
    spread: bool = False  # each result is of all elements, so its error is of the size of the greatest
    lengths: bool = False  # of complex numbers, by steps that the processor's vectors have otherwise than its numbers
    odd: bool = False  # transforms of what is not finite: which results are follows from the order of their steps
    writes: bool = True  # whether nobody may write to memory: what NumPy has broadcast may be, with a warning
    differs: float = 0.0  # of variances: the greatest element, by whose last bits means of other sums differ
    powers: float = 0.0  # of complex numbers, where C's functions err by the size of exponents and logarithms
    alike: str = ""  # kinds of which infinities and NaN are alike: of complex products NumPy leaves them to BLAS


EXACT = Bounds()
_FUSED = re.compile(r"[*/]|multiply|divide|square|reciprocal|sign|abs|sqrt")
_SPREAD = re.compile(r"m\.(linalg|fft)\.")
_LENGTHS = re.compile(r"absolute|abs\(")
_FOLDS = re.compile(r"sum\(|prod\(|mean\(|var\(|std\(|(add|multiply|subtract|hypot)\.(reduce|accumulate)")
_POWERS = re.compile(r"\*\*|power")
_PRODUCTS = re.compile(rf"m\.({'|'.join(WORDS['multiply'].split())}|mat|vec|tensordot|einsum|conv|corr|cov)")
_SUMS = re.compile(r"sum\(|mean\(|add\.reduce|average|var\(|std\(|trapezoid")
_VARIANCES = re.compile(r"m\.(nan)?(var|cov)\(")
_SETS = re.compile(r"isin|unique|(union|intersect|setdiff|setxor)1d")
_SLICES = re.compile(r"nanpercentile|nanmedian|nanquantile|reduceat")
_RUNNING = re.compile(r"\.accumulate\(|m\.cum(sum|prod)\(")
_ODD_CASTS = (0, 2**31, 2**32 - 1)
_ZEROS = re.compile(r"max|min|clip|unique|union1d|intersect1d|set(xor|diff)1d|sort\(|ptp|median|percentile")


def named(text: str, arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The arrays that a statement names."""
    return [arrays[name] for name in re.findall(rf"\b[{ALL}]\b", text) if name in arrays]


def adds_first(text: str) -> bool:
    """Whether `einsum` adds numbers of one operand before it multiplies: there is a sum over axes of that one alone."""
    found = re.search(r"einsum\('([\w.]*),([\w.]*)(->\w*)?'", text)
    if not found:
        return False
    x, y, to = found.groups()
    return to is not None and bool((set(x) ^ set(y)) - set(to))


def step_of(text: str, arrays: dict[str, np.ndarray]) -> float:
    """How far results may be off that lie in wider floats than they are computed in: with `out=` functions of one
    operand are computed in the narrowest floats that hold it, some units off; masked arrays add up in their own."""
    found = re.match(r"(strict\(lambda: |raised\(lambda: )?m\.(\w+)\(.*, out=", text)
    if found and getattr(getattr(np, found[2], None), "nin", 0) == 1:
        operands = named(text[: text.index(", out=")], arrays)
        return max((4 * float(np.finfo(np.result_type(a, "f2")).eps) for a in operands), default=0.0)
    floats = [a for a in named(text, arrays) if a.dtype.kind in "fc"] if "m.ma." in text else []
    return max((64 * float(np.finfo(a.dtype).eps) for a in floats), default=0.0)


def bounds_of(text: str, is_exact: bool, said: list[str], arrays: dict[str, np.ndarray]) -> Bounds:
    """What counts for a statement that has told of such warnings."""
    is_product = bool(_PRODUCTS.search(text))
    casts = "RuntimeWarning" not in said and "round" not in text
    alike = "fc" if adds_first(text) else "c" if is_product else ""
    used = named(text, arrays)
    greatest = max((float(np.max(np.abs(a.astype("c16")), initial=0, where=np.isfinite(a))) for a in used), default=0)
    powers = min(max(4096, 4 * greatest), 2.0**19) if _POWERS.search(text) else 0.0
    differs = greatest if _VARIANCES.search(text) else 0.0
    lengths = bool(_LENGTHS.search(text)) and any(a.dtype.kind == "c" for a in used)
    odd = "m.fft." in text and any(not np.all(np.isfinite(a)) for a in used)
    return Bounds(is_exact, step_of(text, arrays), not _ZEROS.search(text), casts, not _FUSED.search(text),
                  bool(_SPREAD.search(text)), lengths, odd, "broadcast_arrays" not in text,
                  differs, powers, alike)  # fmt: skip


def has_nan(a: np.ndarray) -> bool:
    """Whether float16 has a NaN."""
    return a.dtype == "f2" and bool(np.any(np.isnan(a)))


def nan_signals(a: np.ndarray) -> bool:
    """Whether a float16 is a NaN that processors find invalid wherever it is read."""
    bits = a.view("u2") if a.dtype == "f2" and a.ndim else np.zeros(0, "u2")
    return bool(np.any((bits & 0x7E00 == 0x7C00) & (bits & 0x1FF != 0)))


def first_operand(text: str) -> str:
    """The first operand of the call that a statement is."""
    return ast.unparse(ast.parse(text, mode="eval").body.args[0])


def is_left_out(text: str, arrays: dict[str, np.ndarray]) -> bool:
    """Whether a statement is one that NumPy itself gets wrong: `at` of an array of one axis writes to read-only
    memory; with `where=` results of another dtype are cast to that of the loop, which loses and tells what it should
    not. Whether `copyto` with a mask finds that it copies to the same place goes by strides, which count for nothing
    where there are no elements. `accumulate` takes places for its results that are larger, with what lay there, and
    `concatenate` read-only ones. `take` that wraps places around an axis of no elements has no end, a diagonal of
    `einsum` along one has elements nonetheless, `median` along several cannot say its shape; `cumsum` of none writes
    where `out=` has room for some. A sort in place writes a NaN of its own for each of float16. Where warnings are
    raised, what goes to `out=` that overlaps operands is lost with the room in which it was computed."""
    if text.startswith("into("):  # room of its own
        return False
    found = re.match(r"m\.\w+\.at\((.+?), np\.s_", text)
    if found:
        return not eval(found[1], {"np": np}, arrays).flags.writeable  # noqa: S307  our own text
    if re.match(r"m\.take\(.*mode='wrap'", text):
        return np.size(outcome(first_operand(text), np, arrays)[0]) == 0
    if re.match(r"m\.copyto\(.*where=|m\.einsum\('ii|m\.(nan)?median\(.*axis=\(", text):
        return any(a.size == 0 for a in named(text, arrays))
    if ".sort(" in text and text.startswith("run(") and any(has_nan(a) for a in named(text, arrays)):
        return True
    if re.match(r"(strict|raised)\(.*, out=", text):
        to = set(re.findall(rf"\b[{ALL}]\b", text[text.index(", out=") :]))
        return bool(to & set(re.findall(rf"\b[{ALL}]\b", text[: text.index(", out=")])))
    if ", out=" not in text or not ("where=" in text or _RUNNING.search(text) or "m.concatenate(" in text):
        return False
    plain_text = text[: text.index(", out=")] + ")"
    made, _ = outcome(plain_text, np, arrays)
    to, _ = outcome(re.search(r", out=(.*?)(, (where|casting)=.*)?\)$", text)[1], np, arrays)
    if isinstance(to, Exception) or isinstance(made, Exception):
        return False
    if "m.concatenate(" in text:
        return not to.flags.writeable
    if _RUNNING.search(text):
        return np.size(to) > np.size(made) or not np.size(to)  # NumPy takes an empty one for any
    return getattr(made, "dtype", None) != getattr(to, "dtype", None)


def hears_alike(text: str, arrays: dict[str, np.ndarray]) -> bool:
    """Whether warnings count: not where NumPy leaves them to how BLAS multiplies and adds infinities and NaN, also with
    zeros that it fills places up with, nor where it adds eight sums of them, of which some meet NaN first, nor of NaN
    of float16 that signal, which `unique` makes of any."""
    used = named(text, arrays)
    products = _PRODUCTS.search(text) and any(not np.all(np.isfinite(a)) for a in used)
    sums = _SUMS.search(text) and any(np.any(np.isnan(a)) and np.any(np.isinf(a)) for a in used)
    sets = _SETS.search(text) and any(a.dtype == "f2" and np.any(np.isnan(a)) for a in used)
    return not products and not sums and not sets and not any(map(nan_signals, used))


def has_odd_sums(text: str, heard: list[str]) -> bool:
    """Whether sums are of what no number of u4 is as one, so that all that follows from them is anything, too."""
    return "u4" in text and "RuntimeWarning" in heard and bool(_SUMS.search(text))


def is_rounded_once(text: str, arrays: dict[str, np.ndarray], got: Any, bounds: Bounds) -> bool:
    """Whether sums and products are those of float32, rounded to float16 once: NumPy rounds them between its loops, by
    how arrays lie, so that some overflow on the way."""
    got = got[-1] if isinstance(got, tuple) and got else got
    if getattr(got, "dtype", None) != np.float16 or not _FOLDS.search(text):
        return False
    wider = {name: a.astype("f4" if a.dtype == "f2" else a.dtype) for name, a in arrays.items()}
    wanted, _ = outcome(text.replace("'f2'", "'f4'"), np, wider)
    wanted = wanted[-1] if isinstance(wanted, tuple) else wanted
    with np.errstate(over="ignore"):
        return is_close(np.asarray(wanted, "f2"), np.asarray(got), bounds)


def told(said: list[str], text: str, arrays: dict[str, np.ndarray]) -> list[str]:
    """The warnings that count: where numbers become uint32 NumPy tells of those beyond it in vectors of four alone;
    what it computes slice by slice tells of each, here once."""
    is_u4 = "u4" in text or any(a.dtype == "u4" for a in named(text, arrays))
    said = sorted(set(said)) if _SLICES.search(text) else said
    return [each for each in said if each != "RuntimeWarning"] if is_u4 else said


def is_near(x: np.ndarray, y: np.ndarray, units: float, least: float = 1) -> np.ndarray:
    """Which numbers are alike to some units in the last place, by their size, which is at least so much."""
    step = units * float(np.finfo(x.dtype).eps)
    return (x == y) | is_within(np.abs(x - y), step * (least + np.abs(x))) | (np.isnan(x) & np.isnan(y))


def is_within(gap: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Which gaps keep to a bound; those to infinity do not, whatever the bound."""
    return (gap <= bound) & np.isfinite(gap)


def is_close(x: np.ndarray, y: np.ndarray, bounds: Bounds) -> bool:
    if x.dtype == "u4" and not bounds.casts:
        odd = np.isin(x, _ODD_CASTS) | np.isin(y, _ODD_CASTS)
        return bool(np.all(odd | (x == y)))
    if x.dtype.names:  # bytes between fields are anything
        return all(is_close(x[name], y[name], bounds) for name in x.dtype.names)
    if x.dtype.kind == "O":
        return repr(x.tolist()) == repr(y.tolist())
    if x.dtype.kind not in "fc":
        return x.tobytes() == y.tobytes()
    if bounds.odd and x.dtype.kind in "fc":
        finite = np.isfinite(x) & np.isfinite(y)
        return is_close(np.where(finite, x, 0), np.where(finite, y, 0), bounds._replace(odd=False))
    if x.dtype.kind == "f" and bounds.bits and bounds.lengths:
        with np.errstate(all="ignore"):
            return bool(np.all(is_near(x, y, 4, 0)))
    if x.dtype.kind == "c" and bounds.bits and not bounds.fused:
        with np.errstate(all="ignore"):
            same = is_near(x, y, 8, 0)
            return bool(np.all(same | (~np.isfinite(x) & ~np.isfinite(y) if bounds.alike else False)))
    if x.dtype.kind == "c" and bounds.bits:
        return is_close(x.real, y.real, bounds) and is_close(x.imag, y.imag, bounds)
    with np.errstate(all="ignore"):
        same = (x == y) & (np.signbit(x) == np.signbit(y)) if bounds.bits and bounds.zeros else x == y
        if not bounds.bits:
            units = bounds.powers if bounds.powers and x.dtype.kind == "c" else 64
            step, rest = (max(bounds.step, n * float(np.finfo(x.dtype).eps)) for n in (units, 64))
            size = np.max(np.abs(x), initial=0, where=np.isfinite(x)) if bounds.spread else np.abs(x)
            same |= is_within(np.abs(x - y), step * (1 + size))
            same |= np.abs(x - y) <= (rest * bounds.differs) ** 2
            if x.dtype.kind == "c" and not np.all(same):  # a part may be infinite
                unit = step / float(np.finfo(x.dtype).eps)
                same |= is_near(x.real, y.real, unit) & is_near(x.imag, y.imag, unit)
        if x.dtype.kind in bounds.alike:
            same |= ~np.isfinite(x) & ~np.isfinite(y)
        return bool(np.all(same | (np.isnan(x) & np.isnan(y))))


def public(kind: type) -> type:
    """The class of an exception by which programs know it."""
    return next(each for each in kind.__mro__ if each.__module__ in ("builtins", "numpy.exceptions", "numpy.linalg"))


PLAIN = (int, str, bytes, np.dtype, type(None), dict, set, type, datetime.date, datetime.timedelta, slice,
         np.polynomial._polybase.ABCPolyBase)  # fmt: skip
TOOLS = (io.IOBase, np.random.Generator, np.nditer, np.flatiter, np.broadcast)  # what statements work with


def difference(wanted: Any, got: Any, bounds: Bounds) -> str:
    """How they differ, in one word, and both of them; "" where they do not."""
    both = f"{wanted!r:.200} | {got!r:.200}"
    if isinstance(wanted, Exception) or isinstance(got, Exception):
        if not (isinstance(wanted, Exception) and isinstance(got, Exception)):
            return f"raises {both}"
        fits = isinstance(got, public(type(wanted))) or isinstance(wanted, public(type(got)))
        fits |= type(wanted) is SystemError and ".ufunc' objects> returned NULL" in str(wanted)  # `at` loses its fault
        return "" if fits else f"class {both}"
    if isinstance(wanted, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
            return f"length {both}"
        return next(filter(None, (difference(x, y, bounds) for x, y in zip(wanted, got, strict=True))), "")
    if isinstance(wanted, np.ndarray) != isinstance(got, tn.ndarray) and getattr(wanted, "dtype", None) != object:
        return f"kind {both}"  # of objects arrays are the host's
    if bounds.writes and isinstance(wanted, np.ndarray) and wanted.flags.writeable != got.flags.writeable:
        return f"writeable {wanted.flags.writeable} | {got.flags.writeable}"
    if isinstance(wanted, (np.ndarray, np.generic)):
        x, y = np.asarray(wanted), np.asarray(got)
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"dtype {x.dtype} {x.shape} | {y.dtype} {y.shape}"
        return "" if is_close(x, y, bounds) else f"values {both}"
    if isinstance(wanted, (float, complex)) and type(got) is type(wanted):
        return difference(np.asarray(wanted), tn.asarray(got), bounds)
    if isinstance(wanted, TOOLS):
        return "" if type(got).__name__ == type(wanted).__name__ else f"class {both}"
    if not isinstance(wanted, (*PLAIN, float, complex)):
        return f"unknown {type(wanted)} {both}"
    return f"values {both}" if repr(wanted) != repr(got) else ""


class Program:
    """Six arrays and statements on them; results become arrays of the program, too."""

    def __init__(self, seed: int, number: int, hears: bool = True, some: Any = ()) -> None:
        self.hears = hears  # whether warnings count: a GPU's faults are told of later, and where they are asked for
        self.rng = np.random.default_rng([seed, number])
        self.theirs = {name: made(self.rng) for name in ALL[:6]}
        self.ours = {name: tn.array(a) for name, a in self.theirs.items()}
        self.source = Source(self.rng, self.theirs, some)

    def step(self) -> tuple[str, str]:
        """One statement, and how its outcomes differ, or ""."""
        text, is_exact = self.source.statement()
        if is_left_out(text, self.theirs):
            return text, ""
        hears = self.hears and hears_alike(text, self.theirs)
        wanted, said = outcome(text, np, self.theirs)
        got, heard = outcome(text, tn, self.ours)
        bounds = bounds_of(text, is_exact, said, self.theirs)
        is_anything = self.meets_nan(text, wanted) or has_odd_sums(text, heard)
        found = "" if is_anything else difference(wanted, got, bounds)
        if found and is_rounded_once(text, self.theirs, got, bounds):
            found, hears = "", False
        said, heard = told(said, text, self.theirs), told(heard, text, self.theirs)
        if not found and hears and said != heard and not isinstance(wanted, Exception):
            found = f"warnings {said} | {heard}"
        if not found:
            found = self.changed(bounds)
        if not found and not self.are_alike():
            found = self.meet()
        both = type(wanted) is np.ndarray and type(got) is tn.ndarray
        both = both and wanted.flags.writeable == got.flags.writeable and wanted.strides == got.strides
        both = both and "as_strided" not in text  # which lies in its own memory several times
        if not found and both and wanted.dtype.str[1:] in DTYPES and wanted.size < 200:
            if wanted.ndim < 5 and wanted.tobytes() == np.asarray(got).tobytes():
                name = ALL[int(self.rng.integers(len(ALL)))]
                self.theirs[name], self.ours[name] = wanted, got
        return text, found

    def meets_nan(self, text: str, wanted: Any) -> bool:
        """Whether it is a matrix with a NaN on a GPU: which results are NaN follows from the order of a solver's
        steps, and cuSOLVER's is another than LAPACK's."""
        on_gpu, is_number = not self.hears, isinstance(wanted, (np.ndarray, np.generic)) and wanted.dtype.kind in "fc"
        is_odd = isinstance(wanted, np.linalg.LinAlgError) or (is_number and not np.isfinite(wanted).all())
        return on_gpu and "m.linalg." in text and is_odd

    def are_alike(self) -> bool:
        """Whether the arrays have the same bits, those of NaN too."""
        return all(x.tobytes() == np.asarray(self.ours[name]).tobytes() for name, x in self.theirs.items())

    def meet(self) -> str:
        """Gives our arrays, which are near enough for the statement, NumPy's values, to go on with."""
        for name, x in self.theirs.items():
            if self.ours[name].flags.writeable:
                self.ours[name][...] = x
        return self.changed(EXACT)

    def changed(self, bounds: Bounds) -> str:
        """How the program's arrays differ, which a statement may have written to."""
        for name, x in self.theirs.items():
            if not is_close(x, np.asarray(self.ours[name]), bounds):
                return f"after {name}: {x!r:.200} | {np.asarray(self.ours[name])!r:.200}"
        return ""

    def run(self) -> list[tuple[str, str]]:
        """Statements whose outcomes differ. Ends where arrays are no longer the same."""
        found = []
        for _ in range(STATEMENTS):
            text, what = self.step()
            if what:
                found.append((text, what))
            if self.changed(EXACT):
                break
        return found


def run(seed: int, number: int, hears: bool = True, some: Any = ()) -> list[tuple[str, str]]:
    """What differs in a program; of each three one waits, the others compute at once."""
    before = _core.numeric_small([8192, 8192, 0][number % 3])
    try:
        return Program(seed, number, hears, some).run()
    finally:
        _core.numeric_small(before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--device", default="cpu", help="where arrays lie; warnings count on the CPU alone")
    parser.add_argument("--families", nargs="*", default=[], help="of statements; all where none is named")
    options = parser.parse_args()
    tn.default_device(options.device)
    tally: collections.Counter[str] = collections.Counter()
    done = 0
    try:
        for number in range(options.first, options.first + options.programs):
            for text, what in run(options.seed, number, options.device == "cpu", options.families):
                tally[what.split(" ")[0]] += 1
                print(f"[{options.seed}, {number}] {text}\n    {what}", flush=True)
            done += 1
    except KeyboardInterrupt:  # what was done counts
        pass
    print(f"{done} programs of up to {STATEMENTS} statements: {dict(tally)}")
    return 1 if tally else 0
