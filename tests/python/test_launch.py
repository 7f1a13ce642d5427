# SPDX-License-Identifier: Apache-2.0
"""Launching on the CPU device as a new user would, mistakes included."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import tessera
import tessera.tile as ct


@ct.kernel
def vector_add_kernel(a, b, result):
    block_id = ct.bid(0)
    a_tile = ct.load(a, index=(block_id,), shape=(16,))
    b_tile = ct.load(b, index=(block_id,), shape=(16,))
    ct.store(result, index=(block_id,), tile=a_tile + b_tile)


@ct.kernel
def scale_kernel(x, factor, out):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(64,)) * factor)


@ct.kernel
def fill_kernel(out, VALUE: ct.Constant[int]):
    ct.store(out, index=(ct.bid(0),), tile=ct.full((16,), VALUE, dtype=out.dtype))


def add(a, b, out):
    ct.launch(None, (ct.cdiv(out.shape[0], 16), 1, 1), vector_add_kernel, (a, b, out))


def random(n, dtype=np.float32):
    return (np.random.default_rng().random(n) * 100).astype(dtype)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 1000, 4096])
def test_vector_add_of_any_length(n):
    a, b, out = random(n), random(n), np.full(n, np.nan, np.float32)
    add(a, b, out)
    np.testing.assert_array_equal(out, a + b)


@pytest.mark.parametrize(
    "dtype",
    [
        "float64",
        "float32",
        "float16",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint32",
        "uint64",
    ],
)
def test_vector_add_of_any_dtype(dtype):
    a, b, out = random(100, dtype), random(100, dtype), np.zeros(100, dtype)
    add(a, b, out)
    np.testing.assert_array_equal(out, a + b)


def test_nothing_outside_the_array_is_written():
    whole = np.full(64, 7, np.float32)
    out = whole[8:29]
    add(random(21), random(21), out)
    assert (whole[:8] == 7).all() and (whole[29:] == 7).all() and (out != 7).all()


def test_strided_arrays():
    a, b, out = random(200)[::2], random(300)[::3], np.zeros(200, np.float32)[::2]
    add(a, b, out)
    np.testing.assert_array_equal(out, a + b)


def test_own_arrays_and_views():
    a, b = tessera.array(random(100)), tessera.array(random(100))
    out = tessera.zeros(100, "float32")
    add(a, b, out)
    np.testing.assert_array_equal(out.numpy(), a.numpy() + b.numpy())
    np.testing.assert_array_equal(out[10:20].numpy(), out.numpy()[10:20])


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    a, b, out = torch.rand(100), torch.rand(100), torch.zeros(100)
    add(a, b, out)
    assert torch.equal(out, a + b)


@pytest.mark.parametrize("factor", [3, 2.5, True, np.float32(1.5)])
def test_scalar_arguments(factor):
    x, out = random(64), np.zeros(64, np.float32)
    ct.launch(None, (1,), scale_kernel, (x, factor, out))
    np.testing.assert_array_equal(out, x * np.float32(factor))


def test_constants_make_specialisations():
    out = np.zeros(16, np.int32)
    for value in (3, 4, 3):
        ct.launch(None, (1,), fill_kernel, (out, value))
        assert (out == value).all()


def test_streams_run_in_order_and_synchronize_waits():
    stream = tessera.Stream()
    x, out = tessera.array(random(64)), tessera.zeros(64)
    for _ in range(10):
        ct.launch(stream, (1,), scale_kernel, (x, 2.0, out))
    stream.synchronize()
    tessera.synchronize()
    np.testing.assert_array_equal(out.numpy(), x.numpy() * 2)


class Lent:
    """Host memory of another library, which knows nothing of our streams: it changes when the object ends."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.__dlpack_device__ = array.__dlpack_device__

    def __dlpack__(self, **options):
        return np.array(self.array).__dlpack__() if options.get("copy") else self.array.__dlpack__()

    def __del__(self):
        self.array[:] = -1


@ct.kernel
def slow_copy(x, out, n):
    first = ct.gather(x, 0)
    for _ in range(n):
        ct.atomic_add(out, 1, 1.0)
    ct.scatter(out, 0, first + ct.gather(x, 1))


def test_dlpack_memory_of_the_host_is_read_before_a_launch_on_a_stream_returns():
    stream, out = tessera.Stream(), tessera.zeros(2, "float32")
    x = Lent(np.full(2, 3, np.float32))
    ct.launch(stream, (1,), slow_copy, (x, out, 300000))
    del x
    stream.synchronize()
    assert out.numpy().tolist() == [6, 300000]


def test_numpy_results_are_there_when_launch_on_a_stream_returns():
    x, out = random(64), np.zeros(64, np.float32)
    ct.launch(tessera.Stream(), (1,), scale_kernel, (x, 2.0, out))
    np.testing.assert_array_equal(out, x * 2)


def test_threads_may_launch_one_kernel_at_once():
    results = []

    def work():
        a, b, out = random(1000), random(1000), np.zeros(1000, np.float32)
        for _ in range(20):
            add(a, b, out)
        results.append(bool((out == a + b).all()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == [True] * 4


def test_empty_arrays_and_zero_grids_launch_nothing():
    empty = np.zeros(0, np.float32)
    add(empty, empty, empty)
    out = np.full(16, 5, np.int32)
    ct.launch(None, (0, 1, 1), fill_kernel, (out, 1))
    assert (out == 5).all()


@pytest.mark.parametrize("grid", [(-1, 1, 1), (1, -5, 1), (1 << 24, 1, 1), (1, 1 << 70), 1 << 70])
def test_a_grid_out_of_range_is_refused(grid):
    with pytest.raises(ValueError, match="kernel 'fill_kernel'.* grid .*16777215"):
        ct.launch(None, grid, fill_kernel, (np.zeros(16, np.int32), 1))


@pytest.mark.parametrize("grid", [(), [], 1, (1,), (1, 1), (1, 1, 1), np.int64(1), (np.int64(1), np.uint8(1))])
def test_axes_left_out_have_one_block(grid):
    out = np.zeros(16, np.int32)
    ct.launch(None, grid, fill_kernel, (out, 3))
    assert out.any()


@pytest.mark.parametrize(
    "grid, error, text",
    [
        ((1, 1, 1, 1), ValueError, "at most 3 axes, not 4"),
        ("8", TypeError, "not a str"),
        ((1, "a"), TypeError, "axis 1 of the grid is 'a'"),
        ((1.5,), TypeError, "axis 0 of the grid is 1.5, not an integer"),
    ],
)
def test_a_malformed_grid_is_refused(grid, error, text):
    with pytest.raises(error, match=f"kernel 'fill_kernel': .*{text}"):
        ct.launch(None, grid, fill_kernel, (np.zeros(16, np.int32), 1))


def test_a_list_of_numbers_is_not_an_array():
    with pytest.raises((TypeError, tessera.TileError)):
        ct.launch(None, (1,), vector_add_kernel, ([1.0, 2.0], random(2), random(2)))


@pytest.mark.parametrize("thing", ["text", object(), {}, b"bytes"])
def test_things_that_are_no_argument_are_named(thing):
    text = f"kernel 'vector_add_kernel', argument 'b': is an? {type(thing).__name__};"
    with pytest.raises(TypeError, match=text):
        ct.launch(None, (1,), vector_add_kernel, (random(2), thing, random(2)))


@ct.kernel
def turned_kernel(x, z):
    ct.store(x, 0, ct.load(x, 0, 16) * z)


@pytest.mark.parametrize("z", [1 + 2j, np.complex64(2j), np.complex128(-1j)])
def test_a_complex_number_is_passed_as_its_parts(z):
    x = (np.arange(16) + 1j).astype(np.complex128 if isinstance(z, np.complex128) else np.complex64)
    wanted = x * z
    ct.launch(None, (1,), turned_kernel, (x, z))
    np.testing.assert_array_equal(x, wanted)


def test_a_complex_number_is_no_constant_and_no_float():
    @ct.kernel
    def constant(x, z: ct.Constant):
        pass

    @ct.kernel
    def real(x, z: float):
        pass

    for kernel, text in ((constant, "annotated Constant but is a complex number"), (real, "annotated float but")):
        with pytest.raises(TypeError, match=f"argument 'z': is {text}"):
            ct.launch(None, (1,), kernel, (random(2), 1j))


def test_an_argument_after_a_tuple_is_named_and_counted_as_written():
    with pytest.raises(TypeError, match="argument 'result': is a str"):
        ct.launch(None, (1,), vector_add_kernel, ((1, 2), [random(2)], "text"))
    with pytest.raises(TypeError, match="takes 3 arguments.*got 4"):
        ct.launch(None, (1,), vector_add_kernel, ((1, 2), (3, (4, 5)), random(2), random(2)))


class OnGpu:
    """Memory of a GPU by its dictionary alone."""

    dtype = np.dtype(np.float32)
    __cuda_array_interface__ = {"data": (256, False), "shape": (4, 4), "strides": (4,), "version": 3}


def test_an_array_interface_whose_strides_do_not_fit_its_shape_is_refused():
    with pytest.raises(TypeError, match="argument 'a': malformed .* not a tuple of 2 integers"):
        ct.launch(None, (1,), vector_add_kernel, (OnGpu(), random(2), random(2)))


def test_the_list_of_arguments_may_change_while_they_are_read():
    arguments = [random(16), random(16), np.zeros(16, np.float32)]

    class Vanishing:
        def __dlpack__(self):
            arguments.clear()
            raise ValueError("gone")

    arguments.append(Vanishing())
    with pytest.raises(ValueError, match="argument 3: gone"):
        ct.launch(None, (1,), vector_add_kernel, arguments)
    assert arguments == []


def test_too_few_arguments():
    with pytest.raises(TypeError, match="takes 3 arguments .a, b, result., got 2"):
        ct.launch(None, (1,), vector_add_kernel, (random(16), random(16)))


def test_a_function_without_the_decorator():
    with pytest.raises(TypeError, match="kernel"):
        ct.launch(None, (1,), add, (random(16),))


def test_calling_a_kernel_directly():
    with pytest.raises(TypeError, match="launch"):
        vector_add_kernel(1, 2, 3)


def test_a_float64_result_does_not_fit_a_float32_array():
    with pytest.raises(tessera.TileTypeError, match="float64"):
        add(random(16, np.float64), random(16, np.float64), random(16))


def test_freed_memory_is_noticed():
    a = tessera.zeros(16)
    a.free()
    with pytest.raises(BufferError, match="freed"):
        add(a, a, tessera.zeros(16))


def test_negative_strides_are_refused():
    with pytest.raises(ValueError, match="stride"):
        add(random(16)[::-1], random(16), random(16))


def test_the_gpu_that_is_not_there_says_so():
    with pytest.raises(tessera.DeviceNotFoundError):
        tessera.zeros(4, device="cuda")


def test_an_unknown_device_is_named():
    with pytest.raises(ValueError, match="tpu"):
        tessera.zeros(4, device="tpu")


@ct.kernel
def mark_kernel(out, where):
    ct.scatter(out, where, ct.full((), 1, dtype=ct.uint8))


def test_arrays_of_more_than_two_gigabytes():
    big = np.zeros((1 << 31) + 100, np.uint8)
    ct.launch(None, (1,), fill_kernel, (big[-16:], 9))
    assert (big[-16:] == 9).all() and big[-17] == 0

    @ct.kernel
    def last(out, VALUE: ct.Constant[int]):
        ct.store(
            out,
            index=(ct.num_tiles(out, 0, (16,)) - 1,),
            tile=ct.full((16,), VALUE, dtype=ct.uint8),
        )

    ct.launch(None, (1,), last, (big, 5))
    assert (big[(1 << 31) + 96 :] == 5).all() and big[(1 << 31) + 95] == 9


SCRIPT = """
import numpy as np
import cuda.tile as ct

@ct.kernel
def vector_add_kernel(a, b, result):
    block_id = ct.bid(0)
    a_tile = ct.load(a, index=(block_id,), shape=(16,))
    b_tile = ct.load(b, index=(block_id,), shape=(16,))
    ct.store(result, index=(block_id,), tile=a_tile + b_tile)

n = 100
a = np.arange(n, dtype=np.float32)
r = np.zeros(n, np.float32)
ct.launch(None, (ct.cdiv(n, 16), 1, 1), vector_add_kernel, (a, a, r))
assert (r == a + a).all()
print("right")
"""


def test_a_script_for_cuda_tile_runs_unchanged(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "tessera", "run", str(script)],
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert done.stdout == "right\n", done.stderr


def test_import_is_light():
    code = "import sys, tessera.tile; print([m for m in ('numpy', 'ast', 'inspect', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stdout + done.stderr


@ct.kernel
def extremes_kernel(x, out):
    tile = ct.load(x, 0, 64)
    ct.store(out, 0, ct.max(tile))
    ct.store(out, 1, ct.min(tile))
    ct.store(out, 2, ct.sum(tile))


@pytest.mark.parametrize("fill,want", [(np.nan, [np.nan] * 3), (-0.0, [-0.0] * 3)])
def test_reductions_of_nothing_but_nan_or_negative_zero(fill, want):
    x, out = np.full(64, fill, np.float32), np.ones(3, np.float32)
    ct.launch(None, (1,), extremes_kernel, (x, out))
    np.testing.assert_array_equal(out, want)
    assert (np.signbit(out) == np.signbit(want)).all() or np.isnan(fill)


def test_events_take_streams_of_others_as_of_their_own_device():
    event = tessera.Event("cpu")
    with pytest.raises(ValueError, match="0x4d2 is not a stream of the CPU device"):
        event.record(1234)


def test_streams_of_the_cpu_are_found_by_their_numbers():
    """As other libraries hand streams on: launches, events and a numba stream of that number."""
    from tessera import cuda

    own, x, out = tessera.Stream("cpu"), np.ones(64, np.float32), np.ones(3, np.float32)
    number = int(own.handle)
    ct.launch(number, (1,), extremes_kernel, (x, out))
    tessera.Event("cpu").record(number)
    cuda.external_stream(number).synchronize()
    assert out[2] == 64
    own.close()
    with pytest.raises(ValueError, match=f"{number:#x} is not a stream of the CPU device"):
        ct.launch(number, (1,), extremes_kernel, (x, out))


@ct.kernel(checked=True)
def count_kernel(out, step):
    n = 0
    for _ in range(0, 10, step):
        n += 1
    ct.store(out, index=(0,), tile=ct.full((1,), n, dtype=ct.int32))


def test_step_of_run_time_that_is_zero_is_reported_in_checked_mode():
    out = np.zeros(1, np.int32)
    for step in (3, -2):
        ct.launch(None, (1,), count_kernel, (out, step))
        assert out[0] == len(range(0, 10, step))
    with pytest.raises(tessera.KernelError, match="the step of range is zero"):
        ct.launch(None, (1,), count_kernel, (out, 0))


def test_a_kernel_of_any_number_of_arguments_is_refused():
    @ct.kernel
    def many(*arrays):
        pass

    with pytest.raises(tessera.TileSyntaxError, match=r"'many' .* cannot take \*args.*\n.*tuple"):
        ct.launch(None, (1,), many, (np.zeros(4),))


def test_a_misspelt_operation_on_the_host_gets_a_suggestion():
    with pytest.raises(AttributeError, match="'laod'; did you mean 'load'"):
        ct.laod  # noqa: B018


@pytest.mark.parametrize("named", [False, True])
def test_a_kernel_indexed_by_a_grid_launches(named):
    x, out = random(256), np.zeros(256, np.float32)
    with tessera.Stream("cpu") as stream:
        if named:
            scale_kernel[(4,), stream](x, 2.0, out)
            stream.synchronize()
        else:
            scale_kernel[4](x, 2.0, out)
    np.testing.assert_array_equal(out, x * np.float32(2))
