# SPDX-License-Identifier: Apache-2.0
"""Graphs of a GPU: built node by node or recorded, changed, launched; the mock runs them in order."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tessera import core
from tessera.bindings import driver
from tessera.core.graph import (
    AllocNode,
    ChildGraphNode,
    EventRecordNode,
    EventWaitNode,
    ExecutableKernelNode,
    FreeNode,
    Graph,
    GraphBuilder,
    GraphCompleteOptions,
    GraphDefinition,
    HostCallbackNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
)

ONE = core.LaunchConfig(grid=1, block=1)
KERNEL = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)
COUNTS = ("n_graphs", "n_nodes", "n_execs", "n_kept")


@pytest.fixture
def kernel(mock: Any, device: core.Device) -> core.Kernel:
    """A kernel of two parameters."""
    mock.n_param_bytes = mock.n_values = 2
    mock.param_bytes[:2] = [8, 8]
    return core.Kernel.from_handle(ctypes.addressof(mock))


@pytest.fixture
def log(mock: Any) -> Iterator[list[tuple[int, int]]]:
    """The arguments of each launch that has run."""
    seen: list[tuple[int, int]] = []

    def run(params: Any, _user: Any) -> None:
        values = (ctypes.cast(params[i], ctypes.POINTER(ctypes.c_uint64))[0] for i in range(2))
        seen.append(tuple(values))  # type: ignore[arg-type]

    function = KERNEL(run)
    mock.kernel = ctypes.cast(function, ctypes.c_void_p).value
    yield seen
    mock.kernel = None


@pytest.fixture(autouse=True)
def nothing_left(mock: Any) -> Iterator[None]:
    """Graphs, nodes, executables and what they keep are gone when the test has ended."""
    gc.collect()
    before = [getattr(mock, name) for name in COUNTS]
    yield
    gc.collect()
    assert [getattr(mock, name) for name in COUNTS] == before


@pytest.fixture
def stream(device: core.Device) -> core.Stream:
    return device.create_stream()


def run(graph: Graph, stream: core.Stream) -> None:
    graph.launch(stream)
    stream.sync()


def memory(n: int) -> tuple[core.Buffer, Any]:
    """A buffer, and its bytes, which the mock lets the host see."""
    buffer = core.Device().allocate(n)
    buffer.fill(0)
    return buffer, (ctypes.c_uint8 * n).from_address(int(buffer.handle))


# ---- definitions


def test_launches_run_in_the_order_of_edges(kernel: Any, log: Any, stream: Any) -> None:
    g = GraphDefinition()
    last = g.launch(ONE, kernel, 3, 30)
    first = g.launch(ONE, kernel, 1, 10)
    first.launch(ONE, kernel, 2, 20).succ.add(last)
    graph = g.instantiate()
    assert log == []
    run(graph, stream)
    run(graph, stream)
    assert log == [(1, 10), (2, 20), (3, 30)] * 2
    assert len(g.nodes()) == 3 and len(g.edges()) == 2 and last.pred != {first}


def test_a_launch_in_a_graph_is_the_launch_of_a_stream(mock: Any, kernel: Any, stream: Any) -> None:
    config = core.LaunchConfig(grid=(2, 3), block=(32, 2), shmem_size=64, cluster=2)
    g = GraphDefinition()
    node = g.launch(config, kernel, 1, 2)
    assert (node.grid, node.block, node.shmem_size) == ((2, 3, 1), (32, 2, 1), 64)
    run(g.instantiate(), stream)
    assert list(mock.grid) == [4, 3, 1] and list(mock.block) == [32, 2, 1]
    assert (mock.shared_bytes, mock.cluster, mock.stream) == (64, 2, int(stream.handle))
    assert node.type == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
    assert repr(node) == f"<KernelNode handle={int(node.handle):#x} kernel={int(kernel.handle):#x}>"


def test_arguments_are_checked_and_the_graph_stays_as_it_was(mock: Any, kernel: Any) -> None:
    g = GraphDefinition()
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        g.launch(ONE, kernel, 1)
    with pytest.raises(TypeError, match="argument 1: .*unsupported type str"):
        g.launch(ONE, kernel, 1, "two")
    assert g.nodes() == set()


def test_fills_copies_and_allocations(device: core.Device, stream: Any) -> None:
    target, seen = memory(16)
    g = GraphDefinition()
    a = g.allocate(16)
    assert isinstance(a, AllocNode) and (a.bytesize, a.device_id, a.memory_type) == (
        16,
        0,
        "device",
    )
    fill = a.memset(a.dptr, np.uint16(0x0201), 8)
    copy = fill.memcpy(target, a.dptr, 16)
    end = copy.deallocate(a.dptr)
    assert isinstance(end, FreeNode) and end.dptr == a.dptr
    assert copy._details().count("(D)") == 2
    run(g.instantiate(), stream)
    assert list(seen) == [1, 2] * 8


def test_fills_of_rows(stream: Any) -> None:
    target, seen = memory(8)
    g = GraphDefinition()
    node = g.memset(target, 7, 2, height=2, pitch=4)
    assert (node.width, node.height, node.pitch, node.value) == (2, 2, 4, 7)
    run(g.instantiate(), stream)
    assert list(seen) == [7, 7, 0, 0] * 2


def test_a_full_device_and_bad_values_are_told(device: core.Device) -> None:
    g = GraphDefinition()
    with pytest.raises(core.CUDAError, match="OUT_OF_MEMORY"):
        g.allocate(1 << 30)
    with pytest.raises(ValueError, match="is not a valid GraphMemoryType"):
        g.allocate(8, memory_type="disk")
    with pytest.raises(OverflowError, match="one byte, 0 to 255, not 256"):
        g.memset(4096, 256, 1)
    buffer = device.allocate(8)
    buffer.close()
    with pytest.raises(ValueError, match="dst Buffer has no active allocation"):
        g.memset(buffer, 0, 8)
    assert g.nodes() == set()


def test_callbacks_of_python_and_c(stream: Any) -> None:
    seen: list[Any] = []
    native = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(
        lambda data: seen.append(ctypes.cast(data, ctypes.POINTER(ctypes.c_uint8))[0])
    )
    g = GraphDefinition()
    node = g.callback(lambda: seen.append("python"))
    node.join().callback(native, user_data=b"\xab")
    assert isinstance(node, HostCallbackNode) and callable(node.callback)
    run(g.instantiate(), stream)
    assert seen == ["python", 0xAB]


def test_an_exception_of_a_callback_is_reported(
    stream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: seen.append(report.exc_type))
    g = GraphDefinition()
    g.callback(lambda: 1 / 0).join().callback(lambda: seen.append("next"))
    run(g.instantiate(), stream)
    assert seen == [ZeroDivisionError, "next"]


def test_events_are_recorded_at_each_launch(device: core.Device, stream: Any) -> None:
    event = device.create_event({"timing_enabled": True})
    begin = stream.record(options={"timing_enabled": True})
    g = GraphDefinition()
    record = g.record(event)
    wait = record.wait(event)
    assert isinstance(record, EventRecordNode) and isinstance(wait, EventWaitNode)
    assert record.event is event and wait.pred == {record}
    run(g.instantiate(), stream)
    assert event - begin > 0
    other = device.create_event()
    wait.update(other)
    assert wait.event is other


# ---- conditions


def setter(condition: Any, values: list[int]) -> Any:
    """Does what a kernel does on a GPU: each call gives the condition the next value."""
    value = ctypes.c_uint.from_address(int(condition.handle))
    return lambda: setattr(value, "value", values.pop(0))


@pytest.mark.parametrize(("value", "wanted"), [(0, [(2, 0)]), (1, [(1, 0)]), (7, [(1, 0)])])
def test_if_else(kernel: Any, log: Any, stream: Any, value: int, wanted: Any) -> None:
    g = GraphDefinition()
    node = g.if_else(g.create_condition(value))
    node.then.launch(ONE, kernel, 1, 0)
    node.else_.launch(ONE, kernel, 2, 0)
    run(g.instantiate(), stream)
    assert log == wanted


def test_while_until_the_condition_is_set(kernel: Any, log: Any, stream: Any) -> None:
    g = GraphDefinition()
    condition = g.create_condition(1)
    body = g.while_loop(condition).body
    body.launch(ONE, kernel, 5, 0).callback(setter(condition, [1, 1, 0]))
    run(g.instantiate(), stream)
    assert log == [(5, 0)] * 3


@pytest.mark.parametrize(("value", "wanted"), [(0, [(0, 0)]), (2, [(2, 0)]), (3, [])])
def test_switch(kernel: Any, log: Any, stream: Any, value: int, wanted: Any) -> None:
    g = GraphDefinition()
    node = g.switch(g.create_condition(value), 3)
    for i, branch in enumerate(node.branches):
        branch.launch(ONE, kernel, i, 0)
    run(g.instantiate(), stream)
    assert log == wanted and node.cond_type == "switch"


def test_what_the_driver_refuses_of_conditionals_is_told(device: core.Device) -> None:
    g = GraphDefinition()
    condition = g.create_condition()
    with pytest.raises(core.CUDAError, match="cuGraphAddNode"):
        g.switch(condition, 5)  # the mock has room for 4
    with pytest.raises(TypeError, match="expected a GraphCondition, not int"):
        g.if_then(3)  # type: ignore[arg-type]
    with pytest.raises(core.CUDAError, match="a kernel sets it on a GPU"):
        condition.set(1)


# ---- graphs in graphs, edges, destruction


def test_embedded_graphs_are_copies(kernel: Any, log: Any, stream: Any) -> None:
    inner = GraphDefinition()
    first = inner.launch(ONE, kernel, 1, 0)
    g = GraphDefinition()
    node = g.embed(inner)
    first.launch(ONE, kernel, 2, 0)
    assert isinstance(node, ChildGraphNode) and len(node.child_graph.nodes()) == 1
    (copy,) = node.child_graph.nodes()
    assert isinstance(copy, KernelNode) and copy != first and copy.kernel is kernel
    run(g.instantiate(), stream)
    assert log == [(1, 0)]
    with pytest.raises(TypeError, match="expected a GraphDefinition, not int"):
        g.embed(3)  # type: ignore[arg-type]


def test_a_cycle_cannot_be_made_executable(device: core.Device) -> None:
    g = GraphDefinition()
    a = g.empty()
    b = a.empty()
    b.succ.add(a)
    with pytest.raises(core.CUDAError, match="cannot be made executable: .*INVALID_STRUCTURE"):
        g.instantiate()


def test_nodes_of_two_graphs_are_not_connected(device: core.Device) -> None:
    g, other = GraphDefinition(), GraphDefinition()
    a, b = g.empty(), other.empty()
    with pytest.raises(core.CUDAError, match="cuGraphAddDependencies"):
        a.succ.add(b)
    with pytest.raises(core.CUDAError, match="cuGraphAddEmptyNode"):
        a.join(b)
    assert a.succ == set()


def test_a_destroyed_node_says_so(device: core.Device) -> None:
    g = GraphDefinition()
    a = g.empty()
    b = a.empty()
    inside = g.embed(GraphDefinition()).child_graph
    a.destroy()
    assert not a.is_valid and a.handle is None and b.pred == set() and "destroyed" in repr(a)
    with pytest.raises(core.CUDAError, match="the node was destroyed"):
        a.empty()
    (child,) = (node for node in g.nodes() if node is not b)
    child.destroy()
    with pytest.raises(core.CUDAError, match="the node that contained this graph was destroyed"):
        inside.empty()


def test_a_picture(device: core.Device, tmp_path: Any) -> None:
    g = GraphDefinition()
    g.empty()
    g.debug_dot_print(str(tmp_path / "g.dot"), {"verbose": True, "handles": True})
    assert (tmp_path / "g.dot").read_text().startswith("digraph 1025 ")
    with pytest.raises(core.CUDAError, match="cuGraphDebugDotPrint"):
        g.debug_dot_print(str(tmp_path / "no" / "g.dot"))


# ---- what graphs keep


def test_a_graph_keeps_its_buffers_also_when_they_are_closed(stream: Any, mock: Any) -> None:
    buffer, seen = memory(8)
    out = mock.bytes_out
    g = GraphDefinition()
    g.memset(buffer, 9, 8)
    graph = g.instantiate()
    buffer.close()
    del g
    gc.collect()
    assert mock.bytes_out == out
    run(graph, stream)
    assert list(seen) == [9] * 8
    graph.close()
    gc.collect()
    assert mock.bytes_out < out


def test_a_callback_lives_as_long_as_graph_or_executable(stream: Any) -> None:
    class Call:
        def __call__(self) -> None: ...

    call = Call()
    seen = weakref.ref(call)
    g = GraphDefinition()
    g.callback(call)
    graph = g.instantiate()
    del call, g
    gc.collect()
    assert seen() is not None
    run(graph, stream)
    graph.close()
    gc.collect()
    assert seen() is None


def test_a_node_that_cannot_be_kept_is_taken_back(mock: Any, kernel: Any) -> None:
    g = GraphDefinition()
    mock.keep_failures = 1
    with pytest.raises(core.CUDAError, match="cuUserObjectCreate.*OUT_OF_MEMORY"):
        g.launch(ONE, kernel, 1, 2)
    assert g.nodes() == set()
    g.launch(ONE, kernel, 1, 2)


# ---- changes


def test_nodes_of_a_definition_are_changed(kernel: Any, log: Any, stream: Any) -> None:
    target, seen = memory(4)
    source = (ctypes.c_uint8 * 4)(1, 2, 3, 4)
    g = GraphDefinition()
    launch = g.launch(ONE, kernel, 1, 0)
    fill = launch.memset(target, 7, 4)
    copy = fill.memcpy(target, target, 1)
    before = g.instantiate()
    launch.update(core.LaunchConfig(grid=5, block=2), kernel, 9, 8)
    fill.update(target, 6, 2)
    copy.update(int(target.handle) + 2, ctypes.addressof(source), 2, src_owner=source)
    assert launch.grid == (5, 1, 1) and fill.value == 6 and copy.size == 2
    run(g.instantiate(), stream)
    assert log == [(9, 8)] and list(seen) == [6, 6, 1, 2]
    run(before, stream)
    assert log[1:] == [(1, 0)] and list(seen) == [7] * 4


def test_nodes_of_an_executable_are_changed_and_switched(
    kernel: Any, log: Any, stream: Any
) -> None:
    target, seen = memory(4)
    g = GraphDefinition()
    launch = g.launch(ONE, kernel, 1, 0)
    fill = launch.memset(target, 7, 4)
    copy = fill.memcpy(target, target, 1)
    graph = g.instantiate()
    assert isinstance(graph[launch], ExecutableKernelNode) and graph[launch].node is launch
    graph[launch].update(ONE, kernel, 4, 4)
    graph[fill].update(target, 5, 3)
    graph[copy].update(int(target.handle) + 3, int(target.handle), 1)
    run(graph, stream)
    assert log == [(4, 4)] and list(seen) == [5] * 4
    graph[launch].disable()
    assert not graph[launch].is_enabled and graph[fill].is_enabled
    run(graph, stream)
    graph[launch].enable()
    run(graph, stream)
    assert log == [(4, 4)] * 2
    launch.destroy()
    with pytest.raises(RuntimeError, match="the node of the definition was destroyed"):
        graph[launch].enable()
    with pytest.raises(TypeError, match="indexed by a GraphNode, not int"):
        graph[3]  # type: ignore[index]


def test_update_takes_the_parameters_of_another_graph(kernel: Any, log: Any, stream: Any) -> None:
    def made(value: int) -> GraphDefinition:
        g = GraphDefinition()
        g.launch(ONE, kernel, value, 0).empty()
        return g

    graph = made(1).instantiate()
    graph.update(made(2))
    run(graph, stream)
    assert log == [(2, 0)]
    longer, other = made(3), GraphDefinition()
    longer.empty()
    other.empty().launch(ONE, kernel, 4, 0)
    for source, words in ((longer, "differ in nodes or edges"), (other, "a node has another type")):
        with pytest.raises(core.CUDAError, match=f"Graph update failed.*{words}"):
            graph.update(source)
    with pytest.raises(TypeError, match="expected GraphBuilder or GraphDefinition, not int"):
        graph.update(3)
    run(graph, stream)
    assert log == [(2, 0)] * 2


def test_options_reach_the_driver(mock: Any, stream: Any) -> None:
    g = GraphDefinition()
    g.empty()
    graph = g.instantiate(GraphCompleteOptions(auto_free_on_launch=True, upload_stream=stream))
    before = mock.n_uploads
    graph.upload(stream)
    assert mock.n_uploads == before + 1
    with pytest.raises(TypeError, match="no option 'atuo_free'|unexpected"):
        g.instantiate({"atuo_free": True})


def test_a_closed_graph_is_not_launched(stream: Any) -> None:
    g = GraphDefinition()
    g.empty()
    graph = g.instantiate()
    graph.close()
    graph.close()
    assert int(graph.handle) == 0
    for use in (graph.launch, graph.upload):
        with pytest.raises(RuntimeError, match="the graph is closed"):
            use(stream)


def test_a_launch_on_a_failed_device_is_told(mock: Any, stream: Any) -> None:
    g = GraphDefinition()
    g.empty()
    graph = g.instantiate()
    mock.sticky = 700
    with pytest.raises(core.CUDAError, match="cuGraphLaunch.*ILLEGAL_ADDRESS"):
        graph.launch(stream)
    mock.sticky = 0


# ---- recorded


def begin(device: core.Device) -> GraphBuilder:
    return device.create_graph_builder().begin_building()


def test_a_builder_records_launches_copies_fills_and_calls(
    device: core.Device, kernel: Any, log: Any, stream: Any
) -> None:
    a, _ = memory(8)
    b, seen = memory(8)
    calls: list[str] = []
    builder = begin(device)
    core.launch(builder, ONE, kernel, 1, 2)
    a.fill(3, stream=builder)
    a.copy_to(b, stream=builder)
    builder.callback(lambda: calls.append("call"))
    assert builder.is_building and log == []
    definition = builder.end_building().graph_definition
    kinds = {type(node) for node in definition.nodes()}
    assert kinds == {KernelNode, MemsetNode, MemcpyNode, HostCallbackNode}
    run(builder.complete(), stream)
    assert (log, list(seen), calls) == ([(1, 2)], [3] * 8, ["call"])


def test_recorded_nodes_are_asked_of_the_driver(device: core.Device, kernel: Any) -> None:
    a, _ = memory(8)
    b, _ = memory(8)
    builder = begin(device)
    a.fill(np.uint32(0x01020304), stream=builder)
    a.copy_to(b, stream=builder)
    definition = builder.end_building().graph_definition
    by_kind = {type(node): node for node in definition.nodes()}
    fill, copy = by_kind[MemsetNode], by_kind[MemcpyNode]
    assert (fill.dptr, fill.value, fill.element_size, fill.width) == (a.handle, 0x01020304, 4, 2)
    assert (copy.dst, copy.src, copy.size) == (b.handle, a.handle, 8)
    assert copy.pred == {fill}


def test_what_a_recorded_launch_uses_is_kept(
    mock: Any, device: core.Device, kernel: Any, stream: Any
) -> None:
    buffer, _ = memory(8)
    seen = weakref.ref(buffer)
    builder = begin(device)
    core.launch(builder, ONE, kernel, buffer, 0)
    graph = builder.end_building().complete()
    del buffer, builder
    gc.collect()
    assert seen() is not None
    run(graph, stream)
    graph.close()
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("closed", [False, True])
def test_what_recorded_fills_and_copies_use_is_kept(
    device: core.Device, stream: Any, closed: bool
) -> None:
    buffers = [memory(8)[0] for _ in range(3)]
    seen = [weakref.ref(buffer) for buffer in buffers]
    builder = begin(device)
    buffers[0].fill(7, stream=builder)
    buffers[1].copy_from(buffers[2], stream=builder.stream)
    while buffers:
        if closed:
            buffers[-1].close()
        del buffers[-1]
    graph = builder.end_building().complete()
    builder.close()
    gc.collect()
    assert all(ref() is not None for ref in seen)
    run(graph, stream)
    graph.close()
    gc.collect()
    assert all(ref() is None for ref in seen)


def test_a_builder_that_does_not_build_takes_no_work(
    device: core.Device, kernel: Any, log: Any
) -> None:
    buffer, seen = memory(8)
    builder = device.create_graph_builder()
    for phase in ("new", "ended"):
        with pytest.raises(RuntimeError, match="must be building before it can be given work"):
            core.launch(builder, ONE, kernel, 1, 0)
        with pytest.raises(RuntimeError, match="must be building before it can be given work"):
            buffer.fill(5, stream=builder)
        if phase == "new":
            builder.begin_building().end_building()
    assert log == [] and list(seen) == [0] * 8


def test_splits_are_joined(device: core.Device, kernel: Any, log: Any, stream: Any) -> None:
    builder = begin(device)
    core.launch(builder, ONE, kernel, 1, 0)
    first, second = builder.split(2)
    core.launch(first, ONE, kernel, 2, 0)
    core.launch(second, ONE, kernel, 3, 0)
    joined = GraphBuilder.join(first, second)
    core.launch(joined, ONE, kernel, 4, 0)
    definition = joined.end_building().graph_definition
    assert len(definition.edges()) == 4
    run(joined.complete(), stream)
    assert log[0] == (1, 0) and log[3] == (4, 0) and {*log[1:3]} == {(2, 0), (3, 0)}


def test_a_branch_that_was_not_joined_is_told(device: core.Device, kernel: Any) -> None:
    builder = begin(device)
    _, second = builder.split(2)
    core.launch(second, ONE, kernel, 3, 0)
    with pytest.raises(core.CUDAError, match="CAPTURE_UNJOINED|cuStreamEndCapture"):
        builder.end_building()


def test_conditionals_of_a_builder(device: core.Device, kernel: Any, log: Any, stream: Any) -> None:
    builder = begin(device)
    branches = builder.switch(builder.create_condition(1), 2)
    for i, branch in enumerate(branches):
        branch.begin_building()
        core.launch(branch, ONE, kernel, i, 0)
        branch.end_building()
    core.launch(builder, ONE, kernel, 9, 0)
    run(builder.end_building().complete(), stream)
    assert log == [(1, 0), (9, 0)]


def test_a_builder_embeds_another(device: core.Device, kernel: Any, log: Any, stream: Any) -> None:
    inner = begin(device)
    core.launch(inner, ONE, kernel, 1, 0)
    inner.end_building()
    builder = begin(device)
    builder.embed(inner)
    core.launch(builder, ONE, kernel, 2, 0)
    run(builder.end_building().complete(), stream)
    assert log == [(1, 0), (2, 0)]


def test_a_stream_that_records_is_not_waited_for(device: core.Device, kernel: Any) -> None:
    stream = device.create_stream()
    builder = stream.create_graph_builder().begin_building()
    with pytest.raises(core.CUDAError, match="900|CAPTURE_UNSUPPORTED"):
        stream.sync()
    with pytest.raises(RuntimeError, match="already building"):
        builder.begin_building()
    builder.end_building()
    with pytest.raises(RuntimeError, match="Cannot resume building"):
        builder.begin_building()
    stream.sync()


def test_a_dropped_builder_lets_its_stream_work_again(
    device: core.Device, kernel: Any, log: Any
) -> None:
    stream = device.create_stream()
    builder = stream.create_graph_builder().begin_building()
    core.launch(builder, ONE, kernel, 1, 0)
    builder.close()
    core.launch(stream, ONE, kernel, 2, 0)
    assert log == [(2, 0)]


@pytest.mark.parametrize("mode", ["quick", "", 3])
def test_unknown_modes_are_named(device: core.Device, mode: Any) -> None:
    with pytest.raises(ValueError, match=f"Unsupported build mode: {mode}; it is one of relaxed"):
        device.create_graph_builder().begin_building(mode)
