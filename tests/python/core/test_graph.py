# SPDX-License-Identifier: Apache-2.0
"""Graphs on the CPU device: the same classes as on a GPU."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from typing import Any

import pytest
import tessera.tile as ct
from tessera.core import CUDAError, Device, LaunchConfig, launch
from tessera.core.graph import (
    ConditionalNode,
    EmptyNode,
    ExecutableKernelNode,
    GraphBuilder,
    GraphCompleteOptions,
    GraphDefinition,
    HostCallbackNode,
    IfElseNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
)


@ct.kernel
def affine(x: ct.Array, m: int, b: int) -> None:
    t = ct.load(x, (0,), (1,))
    ct.store(x, (0,), t * m + b)


ONE = LaunchConfig(grid=1)


class Ints:
    """A few int32 in a Buffer of the CPU."""

    def __init__(self, n: int) -> None:
        self.buffer = Device("cpu").allocate(4 * n, stream=Device("cpu").default_stream)
        self.address = int(self.buffer.handle)
        self.values = (ctypes.c_int32 * n).from_address(self.address)
        self.values[:] = [0] * n

    def at(self, i: int) -> Any:
        import numpy as np

        array = np.ctypeslib.as_array(self.values)[i : i + 1]
        return array


@pytest.fixture
def cpu() -> Any:
    device = Device("cpu")
    device.set_current()
    return device


@pytest.fixture
def stream(cpu: Any) -> Any:
    return cpu.create_stream()


def run(graph: Any, stream: Any) -> None:
    graph.launch(stream)
    stream.sync()


# ---- definitions


def test_a_chain_runs_in_order_and_again(stream: Any) -> None:
    x = Ints(1)
    g = GraphDefinition("cpu")
    g.launch(ONE, affine, x.at(0), 2, 1).launch(ONE, affine, x.at(0), 3, 2)
    graph = g.instantiate()
    assert x.values[0] == 0
    run(graph, stream)
    assert x.values[0] == 5
    run(graph, stream)
    assert x.values[0] == (5 * 2 + 1) * 3 + 2


def test_edges_decide_the_order(stream: Any) -> None:
    x = Ints(1)
    g = GraphDefinition("cpu")
    last = g.launch(ONE, affine, x.at(0), 10, 0)
    first = g.launch(ONE, affine, x.at(0), 1, 7)
    first.succ.add(last)
    run(g.instantiate(), stream)
    assert x.values[0] == 70
    assert g.edges() == {(first, last)} and last.pred == {first}


def test_a_cycle_cannot_be_instantiated(cpu: Any) -> None:
    g = GraphDefinition("cpu")
    a, b = g.empty(), g.empty()
    a.succ = {b}
    b.succ = {a}
    with pytest.raises(CUDAError, match="cycle"):
        g.instantiate()


def test_memset_memcpy_and_allocations(stream: Any) -> None:
    x = Ints(4)
    g = GraphDefinition("cpu")
    a = g.allocate(16)
    fill = a.memset(a.dptr, b"\x01\x02\x03\x04", 4)
    copy = fill.memcpy(x.buffer, a.dptr, 16)
    copy.deallocate(a.dptr)
    assert (fill.element_size, fill.width, fill.value) == (4, 4, 0x04030201)
    run(g.instantiate(), stream)
    assert list(x.values) == [0x04030201] * 4


def test_memset_of_rows(stream: Any) -> None:
    x = Ints(4)
    g = GraphDefinition("cpu")
    g.memset(x.address, 0xFF, 4, height=2, pitch=8)
    run(g.instantiate(), stream)
    assert list(x.values) == [-1, 0, -1, 0]


def test_nodes_stay_within_their_buffers() -> None:
    small, large = (Ints(n).buffer for n in (2, 4))
    g = GraphDefinition("cpu")
    copy, fill = g.memcpy(large, small, 8), g.memset(small, 0, 2, height=2, pitch=6)
    for use, words in (
        (lambda: g.memcpy(large, small, 9), "src Buffer has 8 bytes, but the node takes 9"),
        (lambda: copy.update(small, large, 16), "dst Buffer has 8 bytes, but the node takes 16"),
        (lambda: g.memcpy(large, small, -1), "dst: a node takes 0 or more bytes, not -1"),
        (lambda: g.memset(small, b"\1\2", 5), "dst Buffer has 8 bytes, but the node takes 10"),
        (lambda: fill.update(small, 0, 3, height=2, pitch=6), "but the node takes 9"),
        (lambda: g.memset(small, 0, 1, height=0), "1 or more rows of 0 or more elements, not 0"),
    ):
        with pytest.raises(ValueError, match=words):
            use()


def test_nodes_are_printed(cpu: Any) -> None:
    x = Ints(1)
    g = GraphDefinition("cpu")
    node = g.launch(ONE, affine, x.at(0), 1, 1)
    after = node.memset(x.buffer, 0, 4)
    assert "kernel=<kernel affine>" in repr(node) and repr(after) in repr(node.succ)
    assert repr(node) in repr(GraphDefinition("cpu").instantiate()[node])
    builder = cpu.create_graph_builder().begin_building()
    x.buffer.fill(1, stream=builder)
    ct.launch(builder, (1,), affine, (x.at(0), 1, 1))
    nodes = {type(n): n for n in builder.end_building().graph_definition.nodes()}
    assert repr(nodes[MemsetNode]).startswith("<MemsetNode handle=")
    assert repr(nodes[KernelNode]).startswith("<KernelNode handle=")
    with pytest.raises(RuntimeError, match="config is not known of a node that was recorded"):
        _ = nodes[KernelNode].config


def test_callbacks_of_python_and_c(stream: Any) -> None:
    seen: list[Any] = []
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    native = kind(lambda data: seen.append(ctypes.cast(data, ctypes.POINTER(ctypes.c_uint8))[0]))
    g = GraphDefinition("cpu")
    g.callback(lambda: seen.append("python")).join().callback(native, user_data=b"\xab")
    with pytest.raises(ValueError, match="user_data is only supported"):
        g.callback(print, user_data=b"x")
    run(g.instantiate(), stream)
    assert seen == ["python", 0xAB]


def test_an_exception_of_a_callback_is_reported(
    stream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: seen.append(report.exc_type))
    g = GraphDefinition("cpu")
    g.callback(lambda: 1 / 0).join().callback(lambda: seen.append("next"))
    run(g.instantiate(), stream)
    assert seen == [ZeroDivisionError, "next"]


def test_events_are_recorded_at_each_launch(cpu: Any, stream: Any) -> None:
    event = cpu.create_event()
    seen: list[bool] = []
    g = GraphDefinition("cpu")
    g.record(event).wait(event).callback(lambda: seen.append(event.is_done))
    assert g.instantiate() is not None and event.is_done
    run(g.instantiate(), stream)
    assert seen == [True]


@pytest.mark.parametrize("value, wanted", [(0, 20), (1, 11)])
def test_if_else(stream: Any, value: int, wanted: int) -> None:
    x = Ints(1)
    g = GraphDefinition("cpu")
    condition = g.create_condition(default_value=value)
    node = g.launch(ONE, affine, x.at(0), 1, 10).if_else(condition)
    node.then.launch(ONE, affine, x.at(0), 1, 1)
    node.else_.launch(ONE, affine, x.at(0), 2, 0)
    assert isinstance(node, IfElseNode) and node.cond_type == "if" and len(node.branches) == 2
    graph = g.instantiate()
    for _ in range(2):
        x.values[0] = 0
        run(graph, stream)
        assert x.values[0] == wanted


def test_while_until_a_callback_sets_the_condition(stream: Any) -> None:
    x = Ints(1)
    g = GraphDefinition("cpu")
    condition = g.create_condition(default_value=1)
    loop = g.while_loop(condition)
    loop.body.launch(ONE, affine, x.at(0), 1, 1).callback(
        lambda: condition.set(x.values[0] % 5 != 0)
    )
    graph = g.instantiate()
    run(graph, stream)
    assert x.values[0] == 5
    run(graph, stream)
    assert x.values[0] == 10


@pytest.mark.parametrize("value, wanted", [(0, 1), (2, 100), (3, 0), (99, 0)])
def test_switch(stream: Any, value: int, wanted: int) -> None:
    x = Ints(1)
    g = GraphDefinition("cpu")
    node = g.switch(g.create_condition(default_value=value), 3)
    for i, branch in enumerate(node.branches):
        branch.launch(ONE, affine, x.at(0), 1, 10**i)
    run(g.instantiate(), stream)
    assert x.values[0] == wanted


def test_a_condition_belongs_to_its_graph(cpu: Any) -> None:
    condition = GraphDefinition("cpu").create_condition()
    with pytest.raises(CUDAError):
        GraphDefinition("cpu").if_then(condition)
    with pytest.raises(TypeError, match="GraphCondition"):
        GraphDefinition("cpu").if_then(42)  # type: ignore[arg-type]


def test_embedded_graphs_are_copies(stream: Any) -> None:
    x = Ints(1)
    child = GraphDefinition("cpu")
    child.launch(ONE, affine, x.at(0), 1, 1)
    g = GraphDefinition("cpu")
    node = g.embed(child)
    child.launch(ONE, affine, x.at(0), 1, 100)
    node.child_graph.launch(ONE, affine, x.at(0), 1, 10)
    run(g.instantiate(), stream)
    assert x.values[0] == 11 and len(child.nodes()) == 2


# ---- nodes


def test_one_object_for_a_node(cpu: Any) -> None:
    g = GraphDefinition("cpu")
    a = g.empty()
    b = a.join()
    assert isinstance(b, EmptyNode)
    assert g.nodes() == {a, b} and next(iter(a.succ)) is b
    assert a.graph == g and a.type.name == "CU_GRAPH_NODE_TYPE_EMPTY"
    assert "EmptyNode handle=0x" in repr(a)


def test_a_destroyed_node_says_so(cpu: Any) -> None:
    g = GraphDefinition("cpu")
    a, b = g.empty(), g.empty()
    a.succ.add(b)
    b.destroy()
    b.destroy()
    assert not b.is_valid and b.type is None and b.handle is None
    assert a.succ == set() and b.pred == set() and g.nodes() == {a}
    with pytest.raises(CUDAError):
        a.succ.add(b)


def test_edges_within_one_graph_only(cpu: Any) -> None:
    a, b = GraphDefinition("cpu").empty(), GraphDefinition("cpu").empty()
    with pytest.raises(CUDAError):
        a.succ.add(b)
    with pytest.raises(CUDAError):
        a.succ.add(a)
    with pytest.raises(TypeError, match="expected a GraphNode"):
        a.succ.add("node")  # type: ignore[arg-type]


def test_sets_of_neighbours_are_sets(cpu: Any) -> None:
    g = GraphDefinition("cpu")
    hub, a, b, c = (g.empty() for _ in range(4))
    hub.succ |= {a, b}
    assert hub.succ == {a, b} and len(hub.succ) == 2 and a in hub.succ
    hub.succ = {b, c}
    assert hub.succ == {b, c} and a.pred == set()
    hub.succ.clear()
    assert g.edges() == set()


def test_graphs_in_a_destroyed_node_are_gone(cpu: Any) -> None:
    g = GraphDefinition("cpu")
    node = g.if_then(g.create_condition())
    body = node.then
    inner = body.empty()
    node.destroy()
    assert int(body.handle) == 0 and not inner.is_valid
    with pytest.raises(CUDAError, match="destroyed"):
        body.nodes()


def test_a_graph_inside_keeps_the_one_around_it(cpu: Any) -> None:
    g = GraphDefinition("cpu")
    body = g.while_loop(g.create_condition()).body
    del g
    gc.collect()
    body.empty()
    assert len(body.nodes()) == 1


# ---- what is kept


def test_a_callback_lives_as_long_as_graph_or_executable(stream: Any) -> None:
    class Call:
        def __call__(self) -> None:
            seen.append(1)

    seen: list[int] = []
    call = Call()
    ref = weakref.ref(call)
    g = GraphDefinition("cpu")
    node = g.callback(call)
    graph = g.instantiate()
    del call
    node.destroy()
    del node, g
    gc.collect()
    assert ref() is not None
    run(graph, stream)
    assert seen == [1]
    graph.close()
    del graph
    gc.collect()
    for _ in range(3):
        pass
    assert ref() is None


def test_a_buffer_that_was_closed_is_still_filled(stream: Any) -> None:
    x = Ints(1)
    g = GraphDefinition("cpu")
    g.memset(x.buffer, 0xFF, 4)
    graph = g.instantiate()
    x.buffer.close()
    with pytest.raises(ValueError, match="dst Buffer has no active allocation"):
        g.memset(x.buffer, 0, 4)
    run(graph, stream)
    assert x.values[0] == -1


# ---- executables


def test_nodes_of_an_executable_are_changed_and_switched(stream: Any) -> None:
    x = Ints(1)
    g = GraphDefinition("cpu")
    node = g.launch(ONE, affine, x.at(0), 1, 1)
    graph = g.instantiate()
    view = graph[node]
    assert isinstance(view, ExecutableKernelNode) and view.is_enabled
    view.update(ONE, affine, x.at(0), 1, 5)
    run(graph, stream)
    assert x.values[0] == 5
    view.disable()
    run(graph, stream)
    assert x.values[0] == 5 and not view.is_enabled
    view.enable()
    run(graph, stream)
    assert x.values[0] == 10
    run(g.instantiate(), stream)
    assert x.values[0] == 11


def test_nodes_of_a_definition_are_changed(stream: Any) -> None:
    x = Ints(2)
    g = GraphDefinition("cpu")
    fill = g.memset(x.buffer, 1, 4)
    copy = fill.memcpy(x.address + 4, x.address, 4)
    old = g.instantiate()
    fill.update(x.buffer, 2, 4)
    copy.update(x.address + 4, x.address, 2)
    run(g.instantiate(), stream)
    assert list(x.values) == [0x02020202, 0x0202]
    run(old, stream)
    assert list(x.values) == [0x01010101, 0x01010101]
    assert isinstance(fill, MemsetNode) and isinstance(copy, MemcpyNode) and fill.value == 2


def test_update_takes_the_parameters_of_another_graph(stream: Any) -> None:
    x = Ints(2)

    def of(i: int) -> GraphDefinition:
        g = GraphDefinition("cpu")
        g.launch(ONE, affine, x.at(i), 1, 1).launch(ONE, affine, x.at(i), 1, 1)
        return g

    graph = of(0).instantiate()
    graph.update(of(1))
    run(graph, stream)
    assert list(x.values) == [0, 2]
    longer = of(0)
    longer.empty()
    with pytest.raises(CUDAError, match=r"Graph update failed: .+TOPOLOGY_CHANGED\)"):
        graph.update(longer)
    with pytest.raises(TypeError, match="expected GraphBuilder or GraphDefinition"):
        graph.update("graph")


def test_a_closed_graph_is_not_launched(stream: Any) -> None:
    graph = GraphDefinition("cpu").instantiate()
    graph.close()
    graph.close()
    assert int(graph.handle) == 0
    with pytest.raises(RuntimeError, match="closed"):
        graph.launch(stream)


def test_a_fault_in_a_graph_is_told_at_the_wait(stream: Any) -> None:
    import tessera

    @ct.kernel(checked=True)
    def bad(x: ct.Array) -> None:
        ct.scatter(x, (ct.arange(16, dtype=ct.int32) + 1000,), ct.zeros((16,), ct.int32))

    x, seen = Ints(1), []
    g = GraphDefinition("cpu")
    g.launch(ONE, bad, x.at(0)).callback(lambda: seen.append(1))
    graph = g.instantiate()
    for _ in range(2):
        graph.launch(stream)
        with pytest.raises(tessera.KernelError, match="kernel 'bad'"):
            stream.sync()
    assert not seen


# ---- builders


def test_a_builder_records_launches_copies_and_fills(cpu: Any, stream: Any) -> None:
    x, y = Ints(1), Ints(1)
    builder = cpu.create_graph_builder().begin_building()
    assert builder.is_building
    x.buffer.fill(1, stream=builder)
    launch(builder, ONE, affine, x.at(0), 1, 1)
    x.buffer.copy_to(y.buffer, stream=builder)
    assert (x.values[0], y.values[0]) == (0, 0)
    graph = builder.end_building().complete(GraphCompleteOptions(auto_free_on_launch=True))
    run(graph, stream)
    assert (x.values[0], y.values[0]) == (0x01010102, 0x01010102)
    kinds = sorted(type(node).__name__ for node in builder.graph_definition.nodes())
    assert kinds == ["KernelNode", "MemcpyNode", "MemsetNode"]
    kernel = next(n for n in builder.graph_definition.nodes() if isinstance(n, KernelNode))
    assert kernel.kernel is affine and kernel.config is ONE


def test_what_a_recorded_launch_uses_is_kept(cpu: Any, stream: Any) -> None:
    x = Ints(1)
    ref = weakref.ref(x.buffer)
    builder = cpu.create_graph_builder().begin_building()
    import numpy as np

    array = np.zeros(1, np.int32)
    launch(builder, ONE, affine, array, 1, 3)
    graph = builder.end_building().complete()
    address = array.ctypes.data
    builder.close()
    del array, builder
    gc.collect()
    run(graph, stream)
    assert ctypes.c_int32.from_address(address).value == 3
    assert ref() is not None


def test_a_recorded_event_is_kept_by_the_graph(cpu: Any, stream: Any) -> None:
    x = Ints(1)
    builder = cpu.create_graph_builder().begin_building()
    event = builder.stream.record(cpu.create_event())
    builder.stream.wait(event)
    event.close()
    builder.stream.record()
    before = stream.record()
    builder.stream.wait(before)
    del event, before
    builder.stream.wait(stream)
    launch(builder, ONE, affine, x.at(0), 1, 1)
    graph = builder.end_building().complete()
    builder.close()
    # what reuses the memory of the events must not be touched
    others = [cpu.create_event() for _ in range(8)]
    run(graph, stream)
    run(graph, stream)
    assert x.values[0] == 2 and all(other.is_done for other in others)


def test_nothing_waits_for_what_is_being_recorded(cpu: Any, stream: Any) -> None:
    x = Ints(1)
    builder = cpu.create_graph_builder().begin_building()
    launch(builder, ONE, affine, x.at(0), 1, 1)
    event = builder.stream.record()
    for what in (builder, builder.stream):
        with pytest.raises(RuntimeError, match=r"cannot wait for a stream .* graph; .*split\(\)"):
            stream.wait(what)
    with pytest.raises(RuntimeError, match=r"event was recorded by a stream .*join\(\)"):
        stream.wait(event)
    with pytest.raises(RuntimeError, match="event was recorded by a stream that is recording"):
        event.sync()
    with pytest.raises(RuntimeError, match="the stream is recording a graph"):
        builder.stream.sync()
    stream.sync()
    run(builder.end_building().complete(), stream)
    stream.wait(event)
    event.sync()
    stream.sync()
    assert x.values[0] == 1
    kinds = sorted(type(node).__name__ for node in builder.graph_definition.nodes())
    assert kinds == ["EventRecordNode", "KernelNode"]


def test_a_stream_that_is_closed_while_it_records_says_nothing(cpu: Any, capfd: Any) -> None:
    builder = cpu.create_stream().create_graph_builder().begin_building()
    builder.stream.close()
    assert capfd.readouterr().err == ""


def test_an_awaited_stream_that_records_is_an_error(cpu: Any) -> None:
    import asyncio

    async def main() -> None:
        await asyncio.wait_for(builder.stream, 5)

    builder = cpu.create_graph_builder().begin_building()
    with pytest.raises(RuntimeError, match="the stream is recording a graph"):
        asyncio.run(main())


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("by_stream", [False, True])
def test_what_recorded_fills_and_copies_use_is_kept(
    cpu: Any, stream: Any, closed: bool, by_stream: bool
) -> None:
    size = 1 << 16
    filled, source, target = (cpu.allocate(size) for _ in range(3))
    source.fill(3)
    builder = cpu.create_graph_builder().begin_building()
    order = builder.stream if by_stream else builder
    filled.fill(7, stream=order)
    target.copy_from(source, stream=order)
    if closed:
        for buffer in (filled, source, target):
            buffer.close()
    del filled, source, target
    graph = builder.end_building().complete()
    builder.close()
    others = [cpu.allocate(size) for _ in range(6)]
    for buffer in others:
        buffer.fill(0)
    run(graph, stream)
    assert all(bytes(buffer) == bytes(size) for buffer in others)


@pytest.mark.parametrize("by_stream", [False, True])
def test_what_a_tile_launch_of_a_recorded_stream_uses_is_kept(
    cpu: Any, stream: Any, by_stream: bool
) -> None:
    x = Ints(1)
    ref = weakref.ref(x.buffer)
    array = x.buffer.view("int32")
    builder = cpu.create_graph_builder().begin_building()
    ct.launch(builder.stream if by_stream else builder, (1,), affine, (array, 1, 3))
    launch(builder.stream, ONE, affine, array, 2, 0)
    graph = builder.end_building().complete()
    values = x.values
    del array, x
    gc.collect()
    assert ref() is not None
    run(graph, stream)
    assert values[0] == 6


def test_memory_of_a_recording_is_given_back_with_it(cpu: Any, stream: Any) -> None:
    from tessera.core.graph import _cpu_nodes

    before = len(_cpu_nodes.graphs)
    builder = cpu.create_graph_builder().begin_building()
    scratch = cpu.allocate(64, stream=builder)
    scratch.fill(1, stream=builder)
    scratch.close(stream=builder)
    kept = cpu.allocate(64, stream=builder)
    kept.fill(1, stream=builder)
    ref = weakref.ref(kept)
    graph = builder.end_building().complete()
    del kept, builder
    gc.collect()
    run(graph, stream)
    assert ref() is not None
    graph.close()
    gc.collect()
    assert ref() is None and len(_cpu_nodes.graphs) == before


def test_a_builder_that_does_not_build_takes_no_work(cpu: Any) -> None:
    x = Ints(1)
    builder = cpu.create_graph_builder()
    for phase in ("new", "ended"):
        for work in (
            lambda: launch(builder, ONE, affine, x.at(0), 1, 1),
            lambda: ct.launch(builder, (1,), affine, (x.at(0), 1, 1)),
            lambda: x.buffer.fill(5, stream=builder),
            lambda: cpu.create_stream().wait(builder),
        ):
            with pytest.raises(RuntimeError, match="must be building before it can be given work"):
                work()
        if phase == "new":
            builder.begin_building().end_building()
    builder.close()
    with pytest.raises(RuntimeError, match="Graph builder has been closed"):
        launch(builder, ONE, affine, x.at(0), 1, 1)
    assert x.values[0] == 0


def test_a_graph_is_not_launched_into_a_recording(cpu: Any) -> None:
    builder = cpu.create_graph_builder().begin_building()
    graph = GraphDefinition("cpu").instantiate()
    with pytest.raises(RuntimeError, match=r"cannot be launched on a stream .*embed\(\)"):
        graph.launch(builder)


def test_splits_are_joined(cpu: Any, stream: Any) -> None:
    x = Ints(2)
    builder = cpu.create_graph_builder().begin_building()
    with pytest.raises(ValueError, match="Invalid split count: expecting >= 2, got 1"):
        builder.split(1)
    left, right = builder.split(2)
    assert left is builder and right.is_join_required and not left.is_join_required
    launch(left, ONE, affine, x.at(0), 1, 1)
    launch(right, ONE, affine, x.at(1), 1, 2)
    with pytest.raises(ValueError, match="Must join with at least two graph builders"):
        GraphBuilder.join(left)
    assert GraphBuilder.join(right, left) is left
    with pytest.raises(RuntimeError, match="Graph builder has been closed"):
        right.complete()
    launch(left, ONE, affine, x.at(0), 10, 0)
    run(left.end_building().complete(), stream)
    assert list(x.values) == [10, 2]


def test_conditionals_of_a_builder(cpu: Any, stream: Any) -> None:
    x = Ints(1)
    builder = cpu.create_graph_builder().begin_building()
    launch(builder, ONE, affine, x.at(0), 1, 1)
    condition = builder.create_condition(default_value=1)
    body = builder.while_loop(condition).begin_building()
    launch(body, ONE, affine, x.at(0), 2, 0)
    body.callback(lambda: condition.set(x.values[0] < 100))
    body.end_building()
    launch(builder, ONE, affine, x.at(0), 1, 1000)
    run(builder.end_building().complete(), stream)
    assert x.values[0] == 1128
    nodes = builder.graph_definition.nodes()
    node = next(n for n in nodes if isinstance(n, ConditionalNode))
    assert {type(n) for n in node.branches[0].nodes()} == {KernelNode, HostCallbackNode}


def test_a_builder_embeds_another(cpu: Any, stream: Any) -> None:
    x = Ints(1)
    child = cpu.create_graph_builder().begin_building()
    launch(child, ONE, affine, x.at(0), 3, 0)
    parent = cpu.create_graph_builder().begin_building()
    launch(parent, ONE, affine, x.at(0), 1, 1)
    with pytest.raises(ValueError, match="Child graph has not finished building"):
        parent.embed(child)
    parent.embed(child.end_building())
    launch(parent, ONE, affine, x.at(0), 1, 1)
    run(parent.end_building().complete(), stream)
    assert x.values[0] == 4


def test_a_builder_is_used_in_its_order(cpu: Any) -> None:
    builder = cpu.create_graph_builder()
    with pytest.raises(RuntimeError, match="Graph has not finished building"):
        builder.complete()
    with pytest.raises(RuntimeError, match="before begin_building"):
        _ = builder.graph_definition
    with pytest.raises(ValueError, match="Unsupported build mode"):
        builder.begin_building(mode="no")
    builder.begin_building()
    with pytest.raises(RuntimeError, match="already building"):
        builder.begin_building()
    with pytest.raises(RuntimeError, match="capture is in"):
        _ = builder.graph_definition
    builder.end_building()
    with pytest.raises(RuntimeError, match="Cannot resume building"):
        builder.begin_building()
    builder.close()
    with pytest.raises(RuntimeError, match="closed"):
        _ = builder.graph_definition


def test_a_dropped_builder_lets_its_stream_work_again(cpu: Any, stream: Any) -> None:
    x = Ints(1)
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, affine, x.at(0), 1, 1)
    del builder
    gc.collect()
    launch(stream, ONE, affine, x.at(0), 1, 2)
    stream.sync()
    assert x.values[0] == 2


def test_the_default_stream_cannot_record(cpu: Any) -> None:
    builder = cpu.default_stream.create_graph_builder()
    with pytest.raises(RuntimeError, match="default stream of the CPU cannot record"):
        builder.begin_building()


def test_a_picture(cpu: Any, tmp_path: Any) -> None:
    g = GraphDefinition("cpu")
    g.empty().join()
    path = tmp_path / "graph.dot"
    g.debug_dot_print(str(path))
    assert path.read_text().startswith("digraph") and "->" in path.read_text()
    with pytest.raises(TypeError, match="options must be a GraphDebugPrintOptions"):
        g.debug_dot_print(str(path), "invalid")


def test_graphs_leave_nothing_behind(cpu: Any) -> None:
    from tessera.core.graph import _cpu, _cpu_nodes

    before = len(_cpu_nodes.graphs), len(_cpu_nodes.nodes_by_handle), len(_cpu._execs)
    g = GraphDefinition("cpu")
    g.embed(GraphDefinition("cpu"))
    g.if_then(g.create_condition()).then.empty()
    graph = g.instantiate()
    del g, graph
    gc.collect()
    assert (len(_cpu_nodes.graphs), len(_cpu_nodes.nodes_by_handle), len(_cpu._execs)) == before
