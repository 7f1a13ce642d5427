# SPDX-License-Identifier: Apache-2.0
"""Tests here are about functions of ours, so calls on few elements are not lent to NumPy (ext/numeric_lend.c) but where
test_lent.py wants it; TESSERA_TEST_LENDS=1 runs all of them as programs run."""

from __future__ import annotations

import os

from tessera import _core

_core.numeric_lends(os.environ.get("TESSERA_TEST_LENDS") == "1")
