# SPDX-License-Identifier: Apache-2.0
"""The value that decides what a conditional node runs."""

from __future__ import annotations

from typing import Any

__all__ = ["GraphCondition", "condition_of"]


class GraphCondition:
    """What a conditional node looks at; made by ``create_condition`` of the graph that will contain the node.

    A kernel of a GPU takes it as an argument and sets it by ``cudaGraphSetConditional``; on the CPU a
    callback of the graph sets it by ``set``.
    """

    __slots__ = ("__weakref__", "_backend", "_value")

    def __init__(self, *args: object, **kwargs: object) -> None:
        from .._errors import no_constructor

        no_constructor(
            "GraphCondition",
            "GraphDefinition.create_condition() or GraphBuilder.create_condition()",
        )

    @classmethod
    def _of(cls, backend: Any, value: int) -> GraphCondition:
        self = cls.__new__(cls)
        self._backend, self._value = backend, value
        return self

    @property
    def handle(self) -> Any:
        """The driver's handle; on the CPU only an identity."""
        from ...bindings import driver

        return driver.CUgraphConditionalHandle(self._value)

    def set(self, value: int) -> None:
        """Gives it a value until the graph is launched again. On the CPU, from a callback of the graph."""
        from ...bindings import driver
        from .._errors import CUDAError

        if not self._backend.is_cpu:
            raise CUDAError(
                "GraphCondition.set",
                driver.CUresult.CUDA_ERROR_NOT_SUPPORTED,
                "a kernel sets it on a GPU",
            )
        self._backend.set_condition(self._value, int(value))

    def __index__(self) -> int:
        return self._value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphCondition):
            return NotImplemented
        return self._value == other._value and self._backend.is_cpu == other._backend.is_cpu

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"<GraphCondition handle={self._value:#x}>"


def condition_of(value: object) -> GraphCondition:
    if not isinstance(value, GraphCondition):
        raise TypeError(f"expected a GraphCondition, not {type(value).__name__}")
    return value
