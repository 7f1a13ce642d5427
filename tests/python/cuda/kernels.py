# SPDX-License-Identifier: Apache-2.0
"""Kernels of IR text behind cuda's dispatcher: what tests of the host side launch."""

from __future__ import annotations

from typing import Any

from tessera import _core
from tessera.cuda._dispatcher import Dispatcher
from tessera.cuda._options import options_of

SCALE = """
thread entry @scale(%x: ptr<f32>, %n: i32, %step: i32, %a: f32) {
  %block = sreg ctaid.x : i32
  %threads = sreg ntid.x : i32
  %t = sreg tid.x : i32
  %first = muli %block, %threads : i32
  %i = addi %first, %t : i32
  %inside = cmpi lt %i, %n : i1
  %p = offset %x, %i : ptr<f32>
  %v = ld n=1 %p mask=%inside : f32
  %w = mulf %v, %a : f32
  st n=1 %p, %w mask=%inside
  return
}
"""
NOTHING = "thread entry @nothing() {\n  return\n}\n"


def signature_of_scale(x: Any, a: Any = 2.0) -> None:
    """The parameters of SCALE in Python."""


def nothing() -> None:
    """Those of NOTHING."""


class TextKernel(Dispatcher):
    """A dispatcher whose kernel is IR text."""

    def __new__(cls, function: Any, ir: str, **options: Any) -> Any:
        return super().__new__(cls, function, options_of(options))

    def __init__(self, function: Any, ir: str, **options: Any) -> None:
        super().__init__(function, options_of(options))
        self._ir = ir

    def _prepare(self) -> Any:
        return self.__name__, "", self._ir.encode(), (), ((0, (0,) * len(_core.HINTS)),), None


def scale(**options: Any) -> TextKernel:
    """x *= a"""
    return TextKernel(signature_of_scale, SCALE, **options)
