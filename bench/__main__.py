# SPDX-License-Identifier: Apache-2.0
"""``python -m bench [QUESTION ..] [--device cpu|cuda] [--markdown FILE]``; QUESTIONS are below."""

from __future__ import annotations

import argparse
import importlib
import pathlib
import sys

from .common import emit, machine

QUESTIONS = (
    "memory", "vector", "gemm", "attention", "launch", "bindings", "host", "process", "soak",
    "overlap", "cpu",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument(
        "questions", nargs="*", metavar="QUESTION", help=f"of {', '.join(QUESTIONS)}; default: all"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument(
        "--small", action="store_true", help="small data: tries the programs, measures nothing"
    )
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    unknown = set(options.questions) - set(QUESTIONS)
    if unknown:
        parser.error(f"unknown question: {', '.join(sorted(unknown))}")
    print(machine(options.device))
    for name in options.questions or QUESTIONS:
        module = importlib.import_module(f"bench.{name}")
        emit(
            module.tables(options.device, options.rounds, options.small),
            options.device,
            options.markdown,
            options.json,
        )
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)
