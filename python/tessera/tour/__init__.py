# SPDX-License-Identifier: Apache-2.0
"""``python -m tessera tour``: real kernels on real input, checked and timed on this machine."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys

__all__ = ["main"]

NEEDS = ("numpy", "PIL", "matplotlib", "rich")


def _missing() -> list[str]:
    import importlib.util

    return [name for name in NEEDS if importlib.util.find_spec(name) is None]


def _device(wanted: str | None) -> str:
    import tessera

    if wanted:
        return wanted
    return "cuda" if tessera.device_count("cuda") else "cpu"


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tessera tour", description=__doc__)
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), help="default: the GPU if there is one"
    )
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("tour-out"), help="folder for the results"
    )
    parser.add_argument("--small", action="store_true", help="small data, for a quick look")
    parser.add_argument("--seconds", type=float, default=1.0, help="timing budget for each kernel")
    parser.add_argument("--seed", type=int, default=None, help="of the random data; default: fresh")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Runs the tour; 0 if every result is right."""
    options = _parse(arguments)
    if _missing():
        print(
            f"the tour needs {', '.join(_missing())}: pip install 'tessera[tour]'", file=sys.stderr
        )
        return 2
    os.environ.setdefault("TESSERA_CACHE_DIR", "off")  # first calls are measured, not looked up
    from tessera import DeviceNotFoundError

    try:
        return _run(options)
    except DeviceNotFoundError as error:
        print(f"tour: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


def _run(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    import tessera

    from . import picture, report
    from .cases import cases
    from .measure import measure, roofs

    device = _device(options.device)
    name = tessera.device_info(device)["name"]
    options.out.mkdir(parents=True, exist_ok=True)
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    makers = cases(device != "cpu", options.small, seed)
    console = Console()
    if console.width < 120:
        console = Console(width=120)  # a cut table tells less than a wrapped one
    results = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("photograph", total=len(makers) + 2)
        pictures, photo_error = picture.filter_photo(device, options.out)
        reaction, program_error = picture.react(device, options.out, options.small)
        progress.update(task, advance=1, description="measuring the roof")
        roof = roofs(device, options.small)
        for maker in makers:
            progress.update(task, advance=1, description="preparing data")
            case = maker()
            progress.update(task, description=case.name)
            results.append(measure(case, device, roof, name, options.seconds))
    table = Table(*report.HEADINGS, title=f"Tessera {tessera.__version__} on {name}, seed {seed}")
    for result in results:
        table.add_row(*report.row(result))
    console.print(table)
    page = options.out / "report.html"
    report.write(page, results, roof, (pictures, photo_error), (reaction, program_error))
    console.print(
        f"copy {roof.bandwidth:,.1f} GB/s, {roof.flops_source} {roof.flops:,.0f} GFLOP/s on this machine in this run"
    )
    console.print(f"pictures and report: {page}")
    wrong = [r.name for r in results if not r.ok] + (["photograph"] if photo_error > 1e-4 else [])
    wrong += ["reaction"] if program_error > 1e-5 else []
    if wrong:
        console.print(f"WRONG RESULTS: {', '.join(wrong)}", style="bold red")
    return 1 if wrong else 0
