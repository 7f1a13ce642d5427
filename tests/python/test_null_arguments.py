# SPDX-License-Identifier: Apache-2.0
"""Every public function that has a status refuses NULL for a pointer that it needs, by name, before it does anything.

The functions and their parameters are read from the headers; what may be NULL stands here.
"""

import ctypes
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = os.environ.get("TESSERA_LIBRARY", str(ROOT / "build" / "libtessera.so"))
TS_VALUE = -3
ROOM = 1 << 16

# Headers for one caller alone: what a host may call while it answers.
LEFT_OUT = ("host.h", "fft.h")
# May be NULL wherever they stand ...
OPTIONAL = {
    "alloc", "arch", "axes", "entry", "err", "file", "hints", "host_strides", "info", "name", "options", "release",
    "strides", "user",
}  # fmt: skip
# ... and in these functions.
OPTIONAL_OF = {
    "ts_nd_walk": {"begins"},  # NULL: for the first elements, for each number of them
    "ts_array_copy": {"device", "stream"}, "ts_array_from_host": {"stream", "host"},
    "ts_array_to_host": {"stream", "host"},
    "ts_builder_create": {"fn"}, "ts_gemm": {"stream", "a", "b", "c"}, "ts_native_launch": {"stream", "params"},
    "ts_pool_free": {"stream", "memory"}, "ts_program_launch": {"params"}, "ts_script_create": {"end"},
    "ts_nd_compress": {"from"}, "ts_nd_count": {"weights"}, "ts_nd_memory": {"buffer"}, "ts_sort": {"values"},
    "ts_nd_order": {"values", "places"},
    "ts_top_k": {"values"}, "ts_segmented_sort": {"values"}, "ts_segmented_top_k": {"values"}, "ts_set": {"values"},
    "ts_tileir_to_ir": {"kernel"},
}  # fmt: skip
# Take NULL as the default stream.
DEFAULT_STREAM = {
    "ts_array_empty", "ts_array_full", "ts_array_zeros", "ts_buffer_create", "ts_event_create_with", "ts_event_record",
    "ts_find",
    "ts_histogram_even", "ts_histogram_range", "ts_kernel_prepare", "ts_kernel_report", "ts_launch",
    "ts_launch_config_run", "ts_mem_alloc", "ts_merge", "ts_partition_flagged", "ts_pool_alloc", "ts_reduce", "ts_scan",
    "ts_search", "ts_select_flagged", "ts_sort", "ts_top_k", "ts_transform", "ts_unique",
    "ts_adjacent_difference", "ts_count_if", "ts_equal", "ts_mismatch", "ts_nth_element", "ts_segmented_sort",
    "ts_reduce_by_key", "ts_run_lengths", "ts_segmented_reduce", "ts_segmented_scan", "ts_segmented_top_k", "ts_set",
    "ts_unique_by_key",
}  # fmt: skip


def functions():
    """(name, [(parameter, is it a pointer, its number)]) of what gives a status."""
    for header in sorted((ROOT / "include" / "tessera").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        for name, params in re.findall(r"TS_API\s+TS_CHECKED\s+ts_status\s+(ts_\w+)\(([^;]*?)\)\s*;", text):
            if header.name not in LEFT_OUT:
                yield name, [parameter(p) for p in re.split(r",(?![^()]*\))", params)]


def parameter(text):
    name = re.search(r"\(\*(\w+)\)", text) or re.search(r"(\w+)(\[\w*\])?$", text.strip())
    number = ctypes.c_double if text.split()[0] == "double" else ctypes.c_uint64
    return name[1], "*" in text or "[" in text, number(1)


def needs(function, name):
    if name in OPTIONAL or name in OPTIONAL_OF.get(function, ()):
        return False
    return name != "stream" or function not in DEFAULT_STREAM


CASES = [(f, params, name) for f, params in functions() for name, pointer, _ in params if pointer and needs(f, name)]


def test_the_headers_were_read():
    assert len({case[0] for case in CASES}) >= 95 and len(CASES) >= 190


@pytest.mark.parametrize("function, params, missing", CASES, ids=[f"{f}-{name}" for f, _, name in CASES])
def test_null_is_refused_by_name(function, params, missing):
    room, outs, values = ctypes.create_string_buffer(ROOM), {}, []
    error = ctypes.create_string_buffer(ROOM)
    for name, pointer, number in params:
        if name == "err":
            values.append(error)
        elif not pointer:
            values.append(number)
        elif name == missing:
            values.append(None)
        else:
            outs[name] = ctypes.create_string_buffer(b"\xff" * 8, 64) if name == "out" else room
            values.append(outs[name])
    call = getattr(ctypes.CDLL(LIBRARY), function)
    call.restype = ctypes.c_int
    assert call(*values) == TS_VALUE
    assert f"{function}(): {missing} is NULL".encode() in error.raw
