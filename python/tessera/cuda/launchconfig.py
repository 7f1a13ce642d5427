# SPDX-License-Identifier: Apache-2.0
"""The launch that a kernel is being compiled for: only known while it is.

What kernels ask Python while they are compiled (typing functions of ``cuda.extending``) may read it; who does must say
so by ``config.dispatcher.mark_launch_config_sensitive()``: then the kernel is compiled for each configuration.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import _core

__all__ = ["capture_compile_config", "current_launch_config", "ensure_current_launch_config"]


def current_launch_config() -> Any:
    """The launch in this thread (``griddim``, ``blockdim``, ``sharedmem``, ``args``, ``dispatcher``), or None."""
    return _core._current_launch()


def ensure_current_launch_config() -> Any:
    """The launch in this thread; RuntimeError where there is none."""
    config = current_launch_config()
    if config is None:
        raise RuntimeError("No launch config set: this is known while a kernel is compiled for a launch")
    return config


@contextlib.contextmanager
def capture_compile_config(dispatcher: Any) -> Iterator[dict[str, Any]]:
    """The launch that the kernel is compiled for in the block, under ``"config"``."""
    captured: dict[str, Any] = {"config": None}
    before = dispatcher._on_specialised
    dispatcher._on_specialised = lambda launch: captured.update(config=launch)
    try:
        yield captured
    finally:
        dispatcher._on_specialised = before
