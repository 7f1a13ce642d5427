# SPDX-License-Identifier: Apache-2.0
"""``python -m bench [QUESTION ..] [--device cpu|cuda] [--markdown FILE]``; QUESTIONS are below."""

from __future__ import annotations

import argparse
import importlib
import os
import pathlib
import sys

from .common import ONE_THREAD, emit, is_one_thread, machine

# Each question and the options that its `tables` takes beside device, rounds and small.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "memory": (), "vector": (), "gemm": (), "attention": (), "launch": (), "bindings": (),
    "host": (), "process": (), "soak": (), "overlap": (), "cpu": (), "threads_cpu": (), "algorithms": ("seconds",),
    "first_calls": ("seconds",),
    "arrays": ("only", "compile", "seconds"),
    "npbench": ("sizes", "only", "limit", "seconds", "among"), "sizes": ("large",), "named": ("only", "sizes"),
    "products": ("seconds", "random", "seed", "state"),
    "threads": ("seconds",), "chain": ("seconds",), "tutorials": ("seconds", "state"),
    "samples": ("seconds", "state", "suite", "peer"),
}  # fmt: skip
# Those that a plain `python -m bench` leaves out: they want options, or a GPU for minutes.
ASKED_FOR = ("products", "chain", "tutorials", "samples", "threads", "arrays", "npbench", "sizes", "named")


EVERYTHING = "all-gpu"  # runs those as processes of their own


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument(
        "questions", nargs="*", metavar="QUESTION",
        help=f"of {', '.join(QUESTIONS)}; default: all but {', '.join(ASKED_FOR)}; {EVERYTHING}: those",
    )
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), help=f"default: cpu; for {EVERYTHING}: cuda"
    )
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument(
        "--small", action="store_true", help="small data: tries the programs, measures nothing"
    )
    parser.add_argument(
        "--one-thread", action="store_true",
        help="on the CPU: its time on one thread, everybody's; the least of all rounds",
    )
    parser.add_argument("--seconds", type=float, help="stop asking when this time has passed")
    parser.add_argument("--random", type=int, default=1000, help="products: how many shapes")
    parser.add_argument("--seed", type=int, default=12, help="products: of the shapes")
    parser.add_argument(
        "--state", type=pathlib.Path, help="products, samples: a file of what was done so far, to go on from"
    )
    parser.add_argument("--suite", type=pathlib.Path, help="samples: a checkout of cuTile Python")
    parser.add_argument(
        "--peer", action="store_true", help="samples: on the installed cuda.tile as well"
    )
    parser.add_argument("--sizes", default="S", help="npbench: of tiny, S, M, L, with commas between")
    parser.add_argument("--large", action="store_true", help="sizes: 10^8 elements as well")
    parser.add_argument("--only", help="npbench, arrays: names of kernels or programs, with commas between")
    parser.add_argument("--among", help="npbench: peers beside NumPy, with commas between")
    parser.add_argument("--compile", action="store_true", help="arrays: beside torch.compile as well")
    parser.add_argument("--limit", type=float, help="npbench: seconds of one run, after which it is given up")
    parser.add_argument("--out", type=pathlib.Path, help=f"{EVERYTHING}: a folder for its tables")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if options.one_thread and not is_one_thread():  # libraries read the variables when they are loaded
        os.execve(sys.executable, [sys.executable, "-m", "bench", *sys.argv[1:]], os.environ | ONE_THREAD)
    options.device = options.device or ("cuda" if options.questions == [EVERYTHING] else "cpu")
    if options.questions == [EVERYTHING]:
        if not options.out:
            parser.error(f"{EVERYTHING} wants --out, a folder for its tables")
        from . import all_gpu

        return all_gpu.main(
            options.device, options.seconds, options.out, options.suite, options.peer, options.small,
            options.rounds,
        )  # fmt: skip
    unknown = set(options.questions) - set(QUESTIONS)
    if unknown:
        parser.error(f"unknown question: {', '.join(sorted(unknown))}")
    print(machine(options.device))
    for name in options.questions or [q for q in QUESTIONS if q not in ASKED_FOR]:
        module = importlib.import_module(f"bench.{name}")
        more = {option: getattr(options, option) for option in QUESTIONS[name]}
        emit(
            module.tables(options.device, options.rounds, options.small, **more),
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
