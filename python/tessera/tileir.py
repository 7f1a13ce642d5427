# SPDX-License-Identifier: Apache-2.0
"""CUDA Tile IR bytecode: what other front ends of tile kernels write, read, converted and launched.

    module = tileir.read("kernels.tileirbc")
    print(module)                                             # every operation of the file
    ct.launch(None, (8,), module.kernel("add"), (x, y, out))  # on the CPU or a GPU

A kernel takes what its parameters are: arrays as pointer, extents and strides, numbers as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import _core
from ._arguments import launcher

__all__ = ["Kernel", "Module", "read"]


class Kernel(_core.Kernel):  # type: ignore[misc]
    """A kernel of a module, for ``ct.launch``."""

    def __init__(self, name: str, ir: str) -> None:
        self.__name__ = name
        self._ir = ir

    def _prepare(self) -> tuple[Any, ...]:
        """As ``ct.kernel``: name, file, source, parameter rows, hints, host (see ext/kernel.c)."""
        return self.__name__, "", self._ir.encode(), (), ((0, (0,) * len(_core.HINTS)),), None

    def _complete(self, args: Any, named: Any) -> tuple[Any, ...]:
        raise TypeError(f"the parameters of {self!r} have no names; give all arguments by position")

    def __getitem__(self, config: Any) -> Callable[..., None]:
        """``k[grid](x, y)`` is ``ct.launch(None, grid, k, (x, y))``; ``k[grid, stream]`` as of ``ct.kernel``."""
        return launcher(self, config)

    def __repr__(self) -> str:
        return f"<Tile IR kernel {self.__name__}>"


class Module:
    """A module of Tile IR.

    Attributes
    ----------
    bytecode : bytes
    version : str
        ``"13.3"``
    kernels : list of str
        Their names.
    """

    def __init__(self, bytecode: bytes) -> None:
        number, self.kernels = _core.tileir_facts(bytecode)
        self.bytecode = bytecode
        self.version = f"{number // 10}.{number % 10}"

    def __str__(self) -> str:
        return str(_core.tileir_print(self.bytecode))

    def __repr__(self) -> str:
        return f"<Tile IR {self.version}: {', '.join(self.kernels)}>"

    def ir(self, kernel: str | None = None) -> str:
        """The text of Tessera's own IR (docs/guide/ir.md) of one kernel, by default of all."""
        if kernel is not None and kernel not in self.kernels:
            from ._errors import did_you_mean

            hint = did_you_mean(kernel, self.kernels) or f"; it has {', '.join(self.kernels)}"
            raise ValueError(f"the module has no kernel {kernel!r}{hint}")
        return str(_core.tileir_to_ir(self.bytecode, kernel))

    def kernel(self, name: str | None = None) -> Kernel:
        """A kernel that ``ct.launch`` takes; without a name the first."""
        if not self.kernels:
            raise ValueError("the module has no kernels")
        name = name or self.kernels[0]
        return Kernel(name, self.ir(name))


def read(file: str | os.PathLike[str] | bytes) -> Module:
    """The module of a file, or of its bytes.

    Raises
    ------
    ValueError
        The bytes are no Tile IR bytecode, or are broken; the message says where.
    """
    if isinstance(file, (bytes, bytearray, memoryview)):
        return Module(bytes(file))
    with open(file, "rb") as f:
        return Module(f.read())
