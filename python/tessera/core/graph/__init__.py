# SPDX-License-Identifier: Apache-2.0
"""Graphs: work that is described once and launched often.

A ``GraphBuilder`` records what is given to it as to a stream; a ``GraphDefinition`` is built node by
node. Both give a ``Graph``, which is launched on a stream. They work on GPUs and on the CPU.
"""

from __future__ import annotations

from ._builder import GraphBuilder
from ._condition import GraphCondition
from ._definition import GraphDefinition
from ._exec import (
    ExecutableKernelNode,
    ExecutableMemcpyNode,
    ExecutableMemsetNode,
    ExecutableNode,
    Graph,
)
from ._node import GraphNode
from ._nodes import (
    AllocNode,
    ChildGraphNode,
    ConditionalNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    HostCallbackNode,
    IfElseNode,
    IfNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    SwitchNode,
    WhileNode,
)
from ._options import GraphCompleteOptions, GraphDebugPrintOptions

__all__ = [
    "AllocNode",
    "ChildGraphNode",
    "ConditionalNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
    "ExecutableNode",
    "FreeNode",
    "Graph",
    "GraphBuilder",
    "GraphCompleteOptions",
    "GraphCondition",
    "GraphDebugPrintOptions",
    "GraphDefinition",
    "GraphNode",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "SwitchNode",
    "WhileNode",
]
