# SPDX-License-Identifier: Apache-2.0
"""What pathfinder raises."""

from __future__ import annotations

__all__ = [
    "BitcodeLibNotFoundError",
    "DynamicLibNotAvailableError",
    "DynamicLibNotFoundError",
    "DynamicLibUnknownError",
    "StaticLibNotFoundError",
    "UnsupportedBinaryError",
]


class DynamicLibNotFoundError(RuntimeError):
    """A library is nowhere; ``tried`` are the places where it was looked for."""

    tried: tuple[str, ...] = ()


class DynamicLibUnknownError(DynamicLibNotFoundError):
    """No library of this name is known."""


class DynamicLibNotAvailableError(DynamicLibNotFoundError):
    """This library is not made for this platform."""


class BitcodeLibNotFoundError(RuntimeError):
    """A bitcode library is nowhere."""


class StaticLibNotFoundError(RuntimeError):
    """A static library is nowhere."""


class UnsupportedBinaryError(Exception):
    """No program of this name is known."""
