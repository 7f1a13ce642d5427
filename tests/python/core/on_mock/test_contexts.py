# SPDX-License-Identifier: Apache-2.0
"""Contexts of a GPU, and green ones of a part of it; the mock has 132 SMs in steps of 8."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from tessera import core


@pytest.fixture(autouse=True)
def nothing_left(mock: Any) -> Iterator[None]:
    before = mock.n_green
    yield
    gc.collect()
    assert mock.n_green == before


def part(device: core.Device, count: int) -> core.Context:
    groups, _ = device.resources.sm.split({"count": count})
    return device.create_context({"resources": groups})


def test_sms_are_split_into_groups(device: core.Device) -> None:
    sm = device.resources.sm
    assert (sm.sm_count, sm.min_partition_size, sm.coscheduled_alignment) == (132, 8, 8)
    groups, rest = sm.split({"count": [16, 16, 30]})
    assert [group.sm_count for group in groups] == [16, 16, 32] and rest.sm_count == 68
    (whole,), rest = sm.split(core.SMResourceOptions())
    assert whole.sm_count == 128 and rest.sm_count == 4


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"count": -1}, ValueError, "count must be non-negative, not -1"),
        ({"count": 200}, core.CUDAError, "the SMs give 0 groups of 200, not 1"),
        (
            {"count": 8, "backfill": [True]},
            ValueError,
            "count is scalar, so backfill must be one too",
        ),
        ({"count": [8, 8], "backfill": [True]}, ValueError, "1 entries, expected 2"),
        ({"count": 8, "coscheduled_sm_count": 2}, RuntimeError, "CUDA 13.1"),
        ({"cuont": 8}, TypeError, "no option 'cuont'; did you mean 'count'"),
    ],
)
def test_splits_that_do_not_fit(device: core.Device, options: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        device.resources.sm.split(options)


def test_a_green_context_has_its_part(mock: Any, device: core.Device) -> None:
    context = part(device, 16)
    assert context.is_green and context.device is device and context.resources.sm.sm_count == 16
    stream = context.create_stream({"priority": -2})
    assert mock.priority == -2 and stream.device is device
    with pytest.raises(ValueError, match="must be non-blocking"):
        context.create_stream({"nonblocking": False})
    stream.close()


def test_a_current_context_is_used_and_not_closed(device: core.Device) -> None:
    primary, context = device.context, part(device, 16)
    before = device.set_current(context)
    assert before == primary and device.context == context and device.context.is_green
    stream = device.create_stream()
    assert stream.context == context
    with pytest.raises(RuntimeError, match="cannot be closed while it is current"):
        context.close()
    assert device.set_current(before) == context
    stream.close()
    context.close()
    assert context.handle is None and "closed" in repr(context)
    for use in (
        context.create_stream,
        lambda: context.resources,
        lambda: device.set_current(context),
    ):
        with pytest.raises(RuntimeError, match="the context is closed"):
            use()


def test_contexts_of_another_kind_or_device_are_refused(device: core.Device) -> None:
    context = part(device, 8)
    with pytest.raises(RuntimeError, match="the context is of device 0, not 1"):
        core.Device(1).set_current(context)
    with pytest.raises(TypeError, match="takes a Context, not int"):
        device.set_current(3)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="only supported on green contexts"):
        device.context.create_stream()
    with pytest.raises(RuntimeError, match="Context objects cannot be instantiated directly"):
        core.Context()


def test_resources_of_a_context_are_checked(device: core.Device) -> None:
    (dry,), _ = device.resources.sm.split({"count": 8}, dry_run=True)
    for resources, error, words in (
        (None, ValueError, "resources must be provided"),
        ([], ValueError, "resources must be provided"),
        ([3], TypeError, "resources must be SMResource objects, not int"),
        ([dry], ValueError, "a dry-run SMResource cannot be used"),
    ):
        with pytest.raises(error, match=words):
            device.create_context({"resources": resources})
    with pytest.raises(RuntimeError, match="CUDA 13.1"):
        _ = device.resources.workqueue


def test_a_context_ends_with_its_object(mock: Any, device: core.Device) -> None:
    before = mock.n_green
    context = part(device, 8)
    stream = context.create_stream()
    del context
    gc.collect()
    assert mock.n_green == before + 1  # the stream keeps it
    stream.close()
    del stream
    gc.collect()
    assert mock.n_green == before
