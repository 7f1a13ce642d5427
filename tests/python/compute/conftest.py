# SPDX-License-Identifier: Apache-2.0
"""Tests here change how kernels are made, so none is taken as another process made it (test_compute_store.py does)."""

import pytest

from tessera.compute import _engine


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch):
    monkeypatch.setattr(_engine, "_keeps", False)
