# SPDX-License-Identifier: Apache-2.0
"""Random collectives beside NumPy: on the CPU device, and by the reference interpreter as written and as compiled for a
GPU."""

from __future__ import annotations

import os
import zlib
from typing import Any

import numpy as np
import pytest
import random_collectives
import random_items
import simt_run

from tessera import cuda

EACH = int(os.environ.get("COOP_CASES", "4"))  # cases of a kind and device


def on_cpu(kernel: Any, arguments: Any, threads: Any) -> None:
    cuda.jit(kernel)[1, threads](*arguments)


def on(target: int) -> Any:
    def run(kernel: Any, arguments: Any, threads: Any) -> None:
        block = threads if isinstance(threads, tuple) else (threads,)
        simt_run.run(kernel, *arguments, block=block, target=target)

    return run


DEVICES = {"cpu": on_cpu, "written": on(0), "sm_90": on(90)}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", (*random_collectives.KINDS, *random_items.KINDS), ids=lambda kind: kind.__name__)
def test_random(kind: Any, device: str) -> None:
    seed = zlib.crc32(f"{kind.__name__} {device} {os.environ.get('COOP_SEED', '')}".encode())
    for i in range(EACH):
        case = kind(np.random.default_rng([seed, i]))
        try:
            case.check(DEVICES[device])
        except AssertionError:
            raise
        except Exception as e:
            raise AssertionError(f"{case.says}: {e}") from e
