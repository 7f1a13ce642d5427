# SPDX-License-Identifier: Apache-2.0
"""How a graph is made executable, and what its picture shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["GraphCompleteOptions", "GraphDebugPrintOptions", "dot_flags"]


@dataclass
class GraphCompleteOptions:
    """How a graph is made executable.

    Attributes
    ----------
    auto_free_on_launch : bool
        Free the graph's unfreed allocations before it is launched again.
    upload_stream : Stream, optional
        Upload to the device on this stream at once.
    device_launch : bool
        Allow launching it from kernels; such a graph is of one device and has no host nodes.
    use_node_priority : bool
        Run each kernel with its node's priority instead of the stream's.
    """

    auto_free_on_launch: bool = False
    upload_stream: Any = None
    device_launch: bool = False
    use_node_priority: bool = False


@dataclass
class GraphDebugPrintOptions:
    """What ``debug_dot_print`` writes beside the nodes and edges; each is a flag of the driver."""

    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False


def dot_flags(options: Any) -> int:
    """The bits of CUgraphDebugDot_flags: one for each field, in their order."""
    if options is None:
        return 0
    if isinstance(options, Mapping):
        options = GraphDebugPrintOptions(**options)
    if not isinstance(options, GraphDebugPrintOptions):
        kind = type(options).__name__
        raise TypeError(f"options must be a GraphDebugPrintOptions, a mapping or None, not {kind}")
    return sum(1 << i for i, field in enumerate(fields(options)) if getattr(options, field.name))
