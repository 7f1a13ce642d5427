# SPDX-License-Identifier: Apache-2.0
"""The launch that a kernel is being compiled for: only known while it is."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["capture_compile_config", "current_launch_config", "ensure_current_launch_config", "known_as"]

_state = threading.local()


def current_launch_config() -> Any:
    """The launch in this thread, or None."""
    return getattr(_state, "config", None)


def ensure_current_launch_config() -> Any:
    """The launch in this thread; RuntimeError where there is none."""
    config = current_launch_config()
    if config is None:
        raise RuntimeError("No launch config set: this is known while a kernel is compiled for a launch")
    return config


@contextlib.contextmanager
def known_as(config: Any) -> Iterator[None]:
    """A launch is known in the block."""
    before = current_launch_config()
    _state.config = config
    try:
        yield
    finally:
        _state.config = before


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
