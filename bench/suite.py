# SPDX-License-Identifier: Apache-2.0
"""Loads the files of a checkout of cuTile Python as they are, once with our tile language as ``cuda.tile`` and once
with the installed package.

Its benchmarks (test/bench_*.py) are written for pytest. Here small stand-ins answer ``import pytest, conftest, util``:
they note parameters and marks, and the benchmark fixture keeps the function that is to be timed. All else, kernels and
host code and tuned tile sizes, is the checkout's.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import itertools
import pathlib
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .common import Run

PEER = "cuda.tile"
OURS = "tessera"
CHECKOUT = ("benchmark_tuning", "gpu_clocks", "kernels", "utils")  # modules of the checkout
STAND_INS = ("pytest", "conftest", "util")


class Skipped(Exception):
    """What ``pytest.skip`` raises."""


class Mark:
    """A mark as a decorator: parameters and the reason to skip are kept on the function."""

    def __init__(self, name: str, given: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.name, self.given, self.options = name, given, options

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        noted = function.__dict__
        if self.name == "parametrize":
            names = self.given[0].split(",") if isinstance(self.given[0], str) else self.given[0]
            entry = [n.strip() for n in names], list(self.given[1])
            noted.setdefault("parameters", []).append(entry)
        elif self.name == "skip" or (self.name == "skipif" and self.given[0]):
            noted["skipped"] = self.options.get("reason", "skipped")
        return function


class Marks:
    def __getattr__(self, name: str) -> Any:
        return lambda *given, **options: Mark(name, given, options)


def _pytest() -> types.ModuleType:
    module: Any = types.ModuleType("pytest")

    def fixture(params: Any = (), ids: Any = None) -> Callable[..., Any]:
        def note(function: Any) -> Any:
            function.values = list(params)
            return function

        return note

    def skip(reason: str = "") -> None:
        raise Skipped(reason)

    module.fixture, module.skip, module.mark = fixture, skip, Marks()
    module.param = lambda *values, **options: values[0] if len(values) == 1 else values
    return module


def _conftest(torch: Any) -> types.ModuleType:
    module: Any = types.ModuleType("conftest")
    module.dtype_id = lambda dtype: str(dtype).removeprefix("torch.")
    module.shape_id = module.shape_size_id = lambda shape: "x".join(map(str, shape))
    module.get_tileiras_version = lambda: 10**9  # ours has what every version has
    module.requires_tileiras = lambda version: lambda function: function
    return module


def _util(torch: Any) -> types.ModuleType:
    module: Any = types.ModuleType("util")
    marks = Marks()
    is_gpu = torch.cuda.is_available()
    major = torch.cuda.get_device_capability()[0] if is_gpu else 99  # the CPU has what any GPU has

    @contextlib.contextmanager
    def tf32() -> Iterator[None]:
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            yield
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before

    def newer(wanted: int, name: str) -> Callable[[], Mark]:
        return lambda: marks.skipif(major < wanted, reason=f"needs {name} or newer")

    module.torch_use_tf32_matmul = tf32
    module.estimate_bench_iter = lambda *given, **options: (1, 1, 1)
    module.next_power_of_2 = lambda n: 1 << (n - 1).bit_length()
    module.require_hopper_or_newer = newer(9, "Hopper")
    module.require_blackwell_or_newer = newer(10, "Blackwell")
    return module


class _Private(types.ModuleType):
    """A private module of the peer that files of the checkout import at their head and that we do not have."""

    __path__: list[str] = []  # it may have modules

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Version() if name == "BytecodeVersion" else lambda *given, **options: None


class _Version:
    def __getattr__(self, name: str) -> int:
        return 0


PRIVATE = ("_bytecode", "_bytecode.version", "_cext", "_compile")


def _is_of(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == p or name.startswith(p + ".") for p in packages)


@contextlib.contextmanager
def _imports(who: str, folder: pathlib.Path) -> Iterator[None]:
    """Within, modules of ``folder`` are loaded anew, and ``cuda.tile`` is ours or the installed one. Afterwards the
    names are as before: the peer's own late imports must find the peer."""
    import torch

    passing = (*CHECKOUT, *STAND_INS, *((PEER,) if who == OURS else ()))
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_of(name, passing)}
    finders, path = list(sys.meta_path), list(sys.path)
    parent = sys.modules.get("cuda")
    attribute = parent.__dict__.pop("tile", None) if parent and who == OURS else None
    try:
        if who == OURS:
            from tessera import _run

            _run.install()
            for name in PRIVATE:
                sys.modules[f"{PEER}.{name}"] = _Private(f"{PEER}.{name}")
        sys.path.insert(0, str(folder))
        sys.modules.update(pytest=_pytest(), conftest=_conftest(torch), util=_util(torch))
        yield
    finally:
        sys.meta_path[:], sys.path[:] = finders, path
        for name in [n for n in sys.modules if _is_of(n, passing)]:
            del sys.modules[name]
        sys.modules.update(kept)
        parent = sys.modules.get("cuda")
        if parent and who == OURS:
            parent.__dict__.pop("tile", None)
            if attribute is not None:
                parent.tile = attribute  # type: ignore[attr-defined]


def load(who: str, path: pathlib.Path) -> types.ModuleType:
    """A file of the checkout as a module of its own, with ``who`` as its ``cuda.tile``."""
    with _imports(who, path.parent):
        importlib.import_module(PEER)
        spec = importlib.util.spec_from_file_location(f"{path.stem}_{who.replace('.', '_')}", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # where its kernels look for their source and globals
        spec.loader.exec_module(module)
    return module


def installed() -> bool:
    """Whether the peer is there."""
    try:
        return importlib.util.find_spec(PEER) is not None
    except ModuleNotFoundError:
        return False


@dataclass
class Case:
    """One call of a benchmark of the checkout: its function and the values of its parameters, without the backend."""

    function: str
    values: dict[str, Any]
    skipped: str | None

    def name(self) -> str:
        def text(value: Any) -> str:
            if isinstance(value, (tuple, list)):
                return "x".join(map(text, value)) if value else "()"
            return str(value).removeprefix("torch.")

        return " ".join([self.function.removeprefix("bench_"), *(text(v) for v in self.values.values())])


def _names(function: Any) -> list[str]:
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount])


def _backend_fixture(module: Any, name: str) -> bool:
    return name == "backend" or "cutile" in getattr(getattr(module, name, None), "values", ())


def cases(module: Any) -> list[Case]:
    """All cases of a benchmark's file."""
    found = []
    for name, function in vars(module).items():
        if not name.startswith("bench_") or not callable(function):
            continue
        axes: list[tuple[list[str], list[Any]]] = []
        marked = {n for names, _ in getattr(function, "parameters", []) for n in names}
        for parameter in _names(function):
            fixture = getattr(module, parameter, None)
            has_values = parameter not in marked and hasattr(fixture, "values")
            if has_values and not _backend_fixture(module, parameter):
                axes.append(([parameter], fixture.values))
        axes += getattr(function, "parameters", [])
        for values in itertools.product(*(v for _, v in axes)):
            chosen: dict[str, Any] = {}
            for (names, _), value in zip(axes, values, strict=True):
                chosen.update(zip(names, value if len(names) > 1 else (value,), strict=True))
            found.append(Case(name, chosen, getattr(function, "skipped", None)))
    return found


def _as_it_is(call: Run) -> Run:
    return call


class _Benchmark:
    """The benchmark fixture: keeps what was to be timed, as ``graph`` makes it where a graph is asked for."""

    def __init__(self, graph: Callable[[Run], Run]) -> None:
        self.extra_info: dict[str, float] = {}
        self.call: Run | None = None
        self.graph = graph

    def pedantic(self, function: Any, args: Any = (), kwargs: Any = None, **options: Any) -> None:
        def call() -> None:
            function(*args, **(kwargs or {}))

        self.call = self.graph(call) if options.get("cudagraph") else call


def prepare(
    module: Any, case: Case, backend: str, graph: Callable[[Run], Run] = _as_it_is
) -> _Benchmark:
    """Runs the case until it wants to be timed: it has checked its own result by then. ``graph`` makes a graph of the
    call, on the stream that is current there."""
    function = getattr(module, case.function)
    kept, arguments = _Benchmark(graph), dict(case.values)
    for name in _names(function):
        if name == "benchmark":
            arguments[name] = kept
        elif name not in arguments:
            fixture = getattr(module, name, None)
            if fixture is None:
                base = case.function.removeprefix("bench_")
                arguments[name] = getattr(module, f"{backend}_{base}")
            else:
                request = types.SimpleNamespace(param=backend, module=module, function=function)
                arguments[name] = fixture(request)
    for name, value in case.values.items():  # a fixture may make something of its parameter
        fixture = getattr(module, name, None)
        if hasattr(fixture, "values"):
            request = types.SimpleNamespace(param=value, module=module, function=function)
            arguments[name] = fixture(request)
    function(**arguments)
    if kept.call is None:
        raise RuntimeError(f"{case.function} ended without a call of benchmark.pedantic")
    return kept
