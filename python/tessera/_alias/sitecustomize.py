# SPDX-License-Identifier: Apache-2.0
"""For child processes of ``python -m tessera run``: answers the peers' names there too, then goes
on to the sitecustomize that would have run without us."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys

if os.environ.get("TESSERA_ALIASES"):
    from tessera._run import install

    install(os.environ["TESSERA_ALIASES"] == "strict")

_here = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.machinery.PathFinder.find_spec(
    "sitecustomize", [p for p in sys.path if os.path.abspath(p) != _here]
)
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
