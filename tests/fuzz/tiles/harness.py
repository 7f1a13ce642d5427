# SPDX-License-Identifier: Apache-2.0
"""Many programs on several worker processes: progress, findings with their seeds, and a closing line.

python tests/fuzz/tiles order --seed 1 --seconds 60         random programs about the order of memory
python tests/fuzz/tiles --device cuda --jobs 14 --seconds 500   a mixture of all generators on a GPU
python tests/fuzz/tiles order --one 17 --show --shrink      one program, and the lines it needs to fail
"""

from __future__ import annotations

import argparse
import collections
import itertools
import pathlib
import selectors
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import corpus
from .generators import GENERATORS, MIXED, Case
from .program import Program
from .program import Outcome
from .shrink import Trial, shrunk
from .worker import Worker, serve

FAILURES = ("wrong", "error", "crash", "hang")
DEVICES = (
    "cpu, cuda; sm_90: assembled only; eval, eval90: the reference interpreter, of GPU threads; "
    "ptx90: the reader of PTX"
)
SHOWN = 800  # characters of a finding


class Tally:
    """What became of the programs so far."""

    def __init__(self, most: int) -> None:
        self.start = self.shown = time.monotonic()
        self.kinds: collections.Counter[str] = collections.Counter()
        self.rules: collections.Counter[str] = collections.Counter()
        self.slowest: tuple[float, str] = (0.0, "")
        self.most = most

    def add(self, request: dict[str, Any], outcome: Outcome) -> None:
        name = f"{request['generator']} {request['seed']}"
        self.kinds[outcome.kind] += 1
        self.slowest = max(self.slowest, (outcome.seconds, name))
        if outcome.kind in ("refused", "skipped"):
            self.rules[outcome.text] += 1
        elif outcome.kind == "open":
            self.rules["hangs on a value that the language leaves open"] += 1
        elif outcome.kind in FAILURES and self.failed() <= self.most:
            print(f"{name}: {outcome.kind.upper()} {outcome.text[-SHOWN:]}", flush=True)
        if time.monotonic() - self.shown > 10:
            self.shown = time.monotonic()
            print(f"  {self.line()}, {self.rate():.0f} a second", flush=True)

    def failed(self) -> int:
        return sum(self.kinds[k] for k in FAILURES)

    def rate(self) -> float:
        return sum(self.kinds.values()) / max(1e-9, time.monotonic() - self.start)

    def line(self) -> str:
        skipped = sum(self.kinds[k] for k in ("open", "refused", "skipped"))
        return f"{self.kinds['passed']} passed, {self.failed()} failed, {skipped} skipped"

    def close(self) -> None:
        for rule, n in self.rules.most_common():
            print(f"  skipped {n}: {rule}")
        for kind in FAILURES:
            if self.kinds[kind]:
                print(f"  failed {self.kinds[kind]}: {kind}")
        seconds, name = self.slowest
        print(f"  {self.rate():.0f} a second; slowest {name}: {seconds:.1f} s")
        print(self.line(), flush=True)


def requests(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """One generator with ascending seeds; or all files of the corpus, then a mixture of generators,
    each with its own ascending seeds."""
    kept = range(1, len(corpus.files()) + 1)
    if options.generator == "corpus":
        named: Iterator[tuple[str, int]] = (("corpus", k) for k in kept)
    elif options.generator == "all":
        seeds = {name: itertools.count(options.seed) for name in MIXED}
        mixed = ((name, next(seeds[name])) for name in itertools.cycle(MIXED))
        named = itertools.chain((("corpus", k) for k in kept), mixed)
    else:
        named = ((options.generator, k) for k in itertools.count(options.seed))
    for name, seed in itertools.islice(named, options.count):
        yield {"generator": name, "seed": seed, "device": options.device}


class Pool:
    """Workers that are always busy."""

    def __init__(self, options: argparse.Namespace, tally: Tally) -> None:
        self.limit, self.tally = options.limit, tally
        self.end = time.monotonic() + options.seconds if options.seconds else None
        self.requests = requests(options)
        self.selector = selectors.DefaultSelector()
        self.jobs = options.jobs

    def run(self) -> None:
        try:
            for _ in range(self.jobs):
                self.next(None)
            while self.selector.get_map():
                self.step()
        finally:
            for key in list(self.selector.get_map().values()):
                key.data.close()
            self.selector.close()

    def next(self, worker: Worker | None) -> None:
        """Gives a worker (None: a new one) its next program, or ends it."""
        request = None
        if self.end is None or time.monotonic() < self.end:
            request = next(self.requests, None)
        if request and not worker:
            worker = Worker()
            self.selector.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
        if request and worker:
            worker.send(request)
        elif worker:
            self.drop(worker)

    def drop(self, worker: Worker) -> None:
        self.selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
        worker.close()

    def step(self) -> None:
        for key, _ in self.selector.select(1.0):
            worker: Worker = key.data
            outcome = worker.receive()
            self.tally.add(worker.request, outcome or worker.ended())
            if outcome and outcome.kind != "error":
                self.next(worker)
            else:  # after an error of a GPU a process can do no more
                self.drop(worker)
                self.next(None)
        for key in list(self.selector.get_map().values()):
            if key.data.seconds() > self.limit:
                self.tally.add(key.data.request, key.data.stop())
                self.drop(key.data)
                self.next(None)


def one(options: argparse.Namespace) -> int:
    """Runs one program, shows it, leaves out what its finding does not need, keeps it as a file."""
    program: Case
    if options.file:
        program = corpus.parse(options.file.read_text())
    else:
        program = GENERATORS[options.generator](options.one)
    if not isinstance(program, Program):
        print(program.describe())
        print(program.run(options.device))
        return 0
    trial = Trial(options.device, options.limit)
    try:
        outcome = trial.run(program)
        if options.shrink and outcome.kind in FAILURES:
            program, outcome = shrunk(program, outcome, trial)
    finally:
        trial.close()
    if options.show or options.shrink:
        print(program.describe())
    if options.save:
        first = outcome.text.splitlines()[0] if outcome.text else outcome.kind
        options.save.write_text(
            corpus.text(program, f"{outcome.kind} on {options.device}: {first}")
        )
    print(f"{outcome.kind} {outcome.text} ({outcome.seconds:.2f} s)")
    return int(outcome.kind in FAILURES)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests/fuzz/tiles",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("generator", nargs="?", default="all", choices=[*GENERATORS, "all"])
    parser.add_argument("--seed", type=int, default=1, help="of the first program")
    parser.add_argument(
        "--count", type=int, default=None, help="programs; default: until --seconds"
    )
    parser.add_argument("--seconds", type=float, default=None, help="start none after this time")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--device", default="cpu", help=DEVICES)
    parser.add_argument(
        "--limit", type=float, default=60, help="seconds after which a program hangs"
    )
    parser.add_argument("--most", type=int, default=20, help="findings that are printed in full")
    parser.add_argument("--one", type=int, metavar="SEED", help="runs this program alone")
    parser.add_argument("--file", type=pathlib.Path, help="runs the program of this file alone")
    parser.add_argument("--show", action="store_true", help="prints the one program")
    parser.add_argument(
        "--shrink", action="store_true", help="leaves out what it needs not to fail"
    )
    parser.add_argument("--save", type=pathlib.Path, help="writes the one program to this file")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.count is None and options.seconds is None:
        options.seconds = 60.0
    return options


def main() -> int:
    options = parsed()
    np.seterr(all="ignore")  # of this process: where these modules are imported, warnings stay as they are
    if options.worker:
        serve()
        return 0
    if options.one is not None or options.file:
        return one(options)
    import tessera  # a missing package is one message here, not a failure of every program

    print(f"{options.generator} on {options.device}, {options.jobs} processes, {tessera.__file__}")
    tally = Tally(options.most)
    try:
        Pool(options, tally).run()
    except KeyboardInterrupt:
        print("stopped")
        tally.close()
        return 130
    tally.close()
    return int(tally.failed() > 0)


if __name__ == "__main__":
    sys.exit(main())
