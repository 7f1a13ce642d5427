# SPDX-License-Identifier: Apache-2.0
"""The cost report of a kernel (include/tessera/report.h): what it does, what the compiler made of
it, and what bounds it. docs/performance.md reads one line by line.
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _core
from ._errors import did_you_mean

__all__ = ["Report", "cost_report", "main", "target_number"]


def target_number(target: str | int | None) -> int:
    """The number of a target such as ``"sm_90"`` or ``"sm_90a"``; 0 for None."""
    if target is None:
        return 0
    if isinstance(target, int):
        return target
    number = _core.TARGETS.get(target.removesuffix("a"))
    if number is None:
        raise ValueError(f"{target!r} is not a target; use one of {', '.join(_core.TARGETS)}")
    return number


class Report(Mapping[str, Any]):
    """A cost report: printed it is for people, as a mapping it is for programs.

    Keys: ``name target grid threads shared_bytes cluster resident limit waves`` of the launch,
    ``total`` (work by kind: ``load``, ``store``, ``tensor_f16``, ``f32``, ``special``, ...),
    ``dram_bytes``, ``arrays``, ``regions`` (loops with their trip counts), ``notes`` (decisions
    with source lines), ``resources`` (registers and spills; None without an assembler),
    ``roof_s`` (least time of each resource), ``bound``, ``predicted_s``, ``machine``,
    ``assumed``, ``exact``, ``text``.
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts

    def __getitem__(self, key: str) -> Any:
        return self._facts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __str__(self) -> str:
        return str(self._facts["text"])

    def __repr__(self) -> str:
        return f"<cost report of {self['name']}>"

    def notes(self, kind: str, what: str | None = None) -> list[dict[str, Any]]:
        """The decisions of one kind: ``load store product missed move pipeline warning``."""
        return [
            n for n in self["notes"] if n["kind"] == kind and (what is None or n["what"] == what)
        ]

    @property
    def warnings(self) -> list[str]:
        """What costs much speed, each with its source line."""
        return [f"line {n['line']}: {n['what']}: {n['text']}" for n in self.notes("warning")]


def _assemble(code: bytes, target: int) -> str | None:
    """The log of ``ptxas -v`` where it is installed; it knows registers and spills."""
    tool = shutil.which("ptxas")
    if tool is None:
        return None
    arch = f"sm_{target}" + ("a" if target >= 90 else "")
    with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
        file.write(code)
        file.flush()
        command = [tool, f"-arch={arch}", "-v", "-o", os.devnull, file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode == 0 else None


def cost_report(
    kernel: Any,
    args: tuple[Any, ...],
    grid: tuple[int, ...] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    stream: Any = None,
    target: str | int | None = None,
    assemble: bool = True,
) -> Report:
    """The cost report of a launch, which is compiled but not run.

    Parameters
    ----------
    kernel : kernel
    args : tuple
        The arguments of the launch; their values decide trip counts.
    grid : tuple of int, optional
        Blocks of the launch. Without it the report holds formulas only, no totals and no roof.
    kwargs : dict, optional
        Arguments by name, as for ``ct.launch``.
    stream : optional
        As for ``ct.launch``.
    target : str, optional
        ``"sm_80"`` ... ``"sm_120"`` or ``"cpu"``; None is the arguments' device. Any GPU target
        works without a GPU; its figures are then those of a well-known one.
    assemble : bool
        Ask ``ptxas`` for registers and spills where no driver does.

    Returns
    -------
    Report
    """
    tool = _assemble if assemble else None
    return Report(_core.report(stream, grid, kernel, args, target_number(target), tool, kwargs))


# ---- python -m tessera report --------------------------------------------------------------------


def _watching(launch: Callable[..., Any], target: str | None) -> Callable[..., Any]:
    """A launch that prints a report whenever it has specialised a kernel anew."""

    def watched(stream: Any, grid: Any, kernel: Any, args: Any, kwargs: Any = None, **options: Any) -> Any:
        before = kernel._stats()["specialised"]
        result = launch(stream, grid, kernel, args, kwargs, **options)
        if kernel._stats()["specialised"] != before:
            print(cost_report(kernel, args, grid, kwargs=kwargs, stream=stream, target=target))
        return result

    return watched


USAGE = """usage: python -m tessera report [--target T] SCRIPT [ARGS...]

Runs a script and tells of each kernel that it launches what it costs and what bounds it, once for each version of
the kernel. T: a GPU that the code is made for, such as sm_90, though the script runs on the device it runs on."""


def main(arguments: list[str]) -> int:
    """``[--target T] SCRIPT [ARGS...]``: runs a script and reports each specialisation it
    launches."""
    from . import _arguments, _run, tile

    target = None
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if arguments[:1] == ["--target"] and len(arguments) > 1:
        target, arguments = arguments[1], arguments[2:]
        try:
            target_number(target)
        except ValueError as error:
            print(f"tessera report: {error}{did_you_mean(target, _core.TARGETS)}", file=sys.stderr)
            return 2
    if not arguments or not Path(arguments[0]).is_file():
        found = f"there is no file {arguments[0]!r}" if arguments else "no script was given"
        print(f"tessera report: {found}\n{USAGE.partition(chr(10))[0]}", file=sys.stderr)
        return 2
    _run.install()
    tile.launch = _arguments.launch = _watching(tile.launch, target)
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
    runpy.run_path(arguments[0], run_name="__main__")
    return 0
