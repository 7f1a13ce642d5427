# SPDX-License-Identifier: Apache-2.0
"""Tests here change how kernels are made, so none is taken as another process made it (test_compute_store.py does)."""

import os
import zlib

import pytest

from tessera.compute import _engine


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch):
    monkeypatch.setattr(_engine, "_keeps", False)


@pytest.fixture(autouse=True)
def _most_code_is_quickly_made(request, monkeypatch):
    """Five of six tests run the code of first calls, whose bits are the same (docs/adr/0035-tiers.md): LLVM took most
    of the time of all. The long tests run fast code alone."""
    is_quick = zlib.crc32(request.node.nodeid.encode()) % 6 and not os.environ.get("TESSERA_TEST_LONG")
    if is_quick and os.environ["TESSERA_TIERS"] == "0":
        monkeypatch.setenv("TESSERA_TIERS", "quick")
