# SPDX-License-Identifier: Apache-2.0
"""Tests of the host objects. Those of the folder on_mock/ need a process whose driver is the mock
of tests/mock; test_on_mock.py runs them in one."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("TESSERA_MOCK") else ["on_mock", "on_mock/*"]
