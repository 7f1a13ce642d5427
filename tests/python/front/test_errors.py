# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels: each gives one error of the right kind, at the line marked `# here`, that names what was
found and the way out.
"""

import inspect
import math
import re

import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, array, array_list, const, lower, scalar

A = array()
A2 = array(rank=2)
HOST = np.zeros(4)
CASES = []


def wrong(status, *parts, args=(A, A)):
    def add(function):
        CASES.append(pytest.param(function, args, status, parts, id=function.__name__))
        return function

    return add


# ---- names and syntax ----------------------------------------------------------------------------------


@wrong("SYNTAX", "name 'blok' is not defined", "did you mean 'block'")
def undefined_name(x, y):
    block = ct.bid(0)
    ct.store(y, (blok,), block)  # here


@wrong("SYNTAX", "name 'lenn' is not defined", "did you mean 'len'")
def misspelt_builtin(x, y):
    return lenn(x)  # here


@wrong("SYNTAX", "name 'cumsum' is not defined", "did you mean 'ct.cumsum'")
def operation_without_its_module(x, y):
    return cumsum(x)  # here


@wrong("TILETYPE", "has no attribute 'sum'", "did you mean 'ct.sum(tile)'")
def method_of_numpy(x, y):
    return ct.load(x, 0, 16).sum()  # here


@wrong("TILEVALUE", "'2000000000d'", "at most 256")
def format_of_endless_width(x, y):
    print(f"{ct.bid(0):2000000000d}")  # here


@wrong("TILETYPE", "has no attribute 'T'", "ct.transpose(tile) swaps two axes")
def attribute_of_numpy(x, y):
    return ct.load(x, 0, 16).T  # here


@wrong("TILETYPE", "has no attribute 'size'", "multiply the extents of .shape")
def size_of_an_array(x, y):
    return x.size  # here


@wrong("TILETYPE", "sum() of float32 tile", "ct.sum(tile) reduces a tile")
def python_sum_of_a_tile(x, y):
    return sum(ct.load(x, 0, 16))  # here


@wrong("TILETYPE", "float() cannot read string \"1O\" as a number")
def number_in_text(x, y):
    return float("1O")  # here


@wrong("TILETYPE", "kernels cannot call a host object", "'exp'", "use ct.exp for tiles")
def function_of_numpy(x, y):
    return np.exp(ct.load(x, 0, 16))  # here


@wrong("TILETYPE", "kernels cannot call a host object", "'arctan2'", "use ct.atan2 for tiles")
def function_of_numpy_by_another_name(x, y):
    return np.arctan2(ct.load(x, 0, 16), 1.0)  # here


@wrong("TILETYPE", "kernels cannot call a host object", "numpy.fromiter'", "only tile operations")
def function_of_numpy_alone(x, y):
    return np.fromiter(ct.load(x, 0, 16), np.float32)  # here


@wrong("TILETYPE", "has no attribute 'softmax'", "ct.exp(x - ct.max(")
def softmax_of_a_tile(x, y):
    ct.store(y, 0, ct.softmax(ct.load(x, 0, 4)))  # here


@wrong("TILETYPE", "int32 scalar has no items to index", "x[i] reads an array")
def item_of_a_number(x, y):
    ct.store(y, 0, ct.bid(0)[0])  # here


@wrong("TILETYPE", "has no attribute 'laod'", "did you mean 'load'")
def misspelt_operation(x, y):
    ct.store(y, 0, ct.laod(x, 0, 16))  # here


@wrong("TILETYPE", "float32 array of rank 1", "no attribute 'shpae'", "did you mean 'shape'")
def misspelt_attribute(x, y):
    n = x.shpae[0]  # here
    ct.store(y, 0, n)


@wrong("SYNTAX", "'try' is not part of the tile language")
def try_statement(x, y):
    try:  # here
        ct.store(y, 0, 1.0)
    except ValueError:
        pass


@wrong("TILETYPE", "'with' takes a call of a function made by contextlib.contextmanager", "float32 array of rank 1")
def with_statement(x, y):
    with x:  # here
        pass


@wrong("SYNTAX", "'a list comprehension'", "static_iter")
def list_comprehension(x, y):
    z = [i for i in range(3)]  # here
    ct.store(y, 0, z[0])


@wrong("SYNTAX", "lists are not part", "tuple")
def list_display(x, y):
    z = [1, 2]  # here
    ct.store(y, 0, z[0])


@wrong("TILETYPE", "** takes a dict, found tuple")
def dict_display(x, y):
    z = {**(1, 2)}  # here
    ct.store(y, 0, z["a"])


@wrong("STATICASSERT", "static assertion failed: two axes")
def assert_statement(x, y):
    assert x.ndim == 2, "two axes"  # here


@wrong("SYNTAX", "'raise' is not part", "no exceptions")
def raise_statement(x, y):
    raise ValueError("no")  # here


@wrong("SYNTAX", "'global' is not part", "return the value")
def global_statement(x, y):
    global HOST  # here
    HOST = 1


@wrong("SYNTAX", "'import' is not part")
def import_statement(x, y):
    import math  # here


@wrong("SYNTAX", "'class' is not part")
def class_statement(x, y):
    class Inner:  # here
        pass


@wrong("TILETYPE", "variable 't' has no value here", "only one branch")
def walrus_in_a_branch(x, y):
    n = 1.0 if ct.bid(0) > 1 and (t := ct.bid(1)) > 2 else 2.0
    ct.store(y, 0, t + n)  # here


@wrong("SYNTAX", "decorators on nested functions")
def nested_decorator(x, y):
    @staticmethod  # here
    def f():
        return 1

    ct.store(y, 0, f())


@wrong("SYNTAX", "'break' in a loop over ct.static_iter")
def break_static(x, y):
    for i in ct.static_iter(range(3)):
        if i == 1:
            break  # here
    ct.store(y, 0, 1.0)


@wrong("SYNTAX", "a 'for' runs over range(...), a tuple or ct.static_iter(...)", "d.items()")
def for_over_dict(x, y):
    for i in {1: 2}:  # here
        ct.store(y, i, 1.0)


@wrong("SYNTAX", "a kernel cannot take *args")
def star_args(x, *rest):  # here
    ct.store(x, 0, 1.0)


# ---- types -----------------------------------------------------------------------------------------------


@wrong(
    "TILETYPE",
    "float16 and bfloat16 have no common dtype",
    "ct.astype",
    args=(array("float16"), array("bfloat16")),
)
def mixed_halves(x, y):
    z = ct.load(x, 0, 16) + ct.load(y, 0, 16)  # here
    ct.store(x, 0, z)


@wrong("TILETYPE", "int32 and uint32 have no common dtype", args=(array("int32"), array("uint32")))
def mixed_signs(x, y):
    ct.store(x, 0, ct.load(x, 0, 16) * ct.load(y, 0, 16))  # here


@wrong(
    "TILETYPE",
    "store()",
    "float32 does not convert to float16 implicitly",
    "ct.astype(value, ct.float16)",
    args=(A, array("float16")),
)
def narrowing_store(x, y):
    ct.store(y, 0, ct.load(x, 0, 16))  # here


@wrong("TILETYPE", "constant 1.5", "cannot become int32 implicitly", args=(array("int32"), A))
def float_into_int(x, y):
    ct.store(x, 0, 1.5)  # here


@wrong("TILEVALUE", "constant 300 does not fit in int8", args=(array("int8"), A))
def literal_too_big(x, y):
    ct.store(x, 0, ct.load(x, 0, 16) + 300)  # here


@wrong(
    "TILETYPE",
    "'+' is not defined for float8_e4m3fn",
    "storage type",
    args=(array("float8_e4m3fn"), A),
)
def restricted_arithmetic(x, y):
    z = ct.load(x, 0, 16)
    ct.store(x, 0, z + z)  # here


@wrong("TILETYPE", "help: make a tile, ct.full((n,), value, ct.float4_e2m1fn)")
def constant_below_a_byte(x, y):
    ct.float4_e2m1fn(2.0)  # here


@wrong("TILEVALUE", "math.fmod() is not defined for constant 5.0 and constant 0.0")
def constants_without_a_remainder(x, y):
    ct.store(y, 0, math.fmod(5.0, 0.0))  # here


@wrong("TILETYPE", "sum() is not defined for float8_e5m2", args=(array("float8_e5m2"), A))
def restricted_reduction(x, y):
    ct.store(y, 0, ct.sum(ct.load(x, 0, 16)))  # here


@wrong("TILETYPE", "cannot add float32 array of rank 1 and float32 array", "ct.load")
def arrays_added(x, y):
    ct.store(y, 0, x + y)  # here


@wrong("TILETYPE", "arrays are not indexed with []", "ct.load")
def array_indexed(x, y):
    ct.store(y, 0, x[0])  # here


@wrong("TILETYPE", "no item assignment", "ct.store")
def item_assignment(x, y):
    y[0] = 1.0  # here


@wrong("TILEVALUE", "index -17 is out of range for axis 0 of extent 16")
def tile_indexed(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, t[-17])  # here


@wrong("TILETYPE", "a slice of 3 elements of an axis of 16 is not a power of two long")
def tile_sliced(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, t[2:5])  # here


@wrong("TILETYPE", "tiles are indexed with integers, slices, None and ...", "ct.where")
def tile_masked(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, t[t > 0])  # here


@wrong("TILETYPE", "slices must be known at compile time")
def tile_sliced_at_run_time(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, t[ct.bid(0) : 8])  # here


@wrong("TILETYPE", "cannot combine float32 tile", "'&'")
def bits_of_floats(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, t & t)  # here


@wrong("TILETYPE", "cannot add bool_ tile", "convert the bools")
def bools_added(x, y):
    m = ct.load(x, 0, 16) > 0
    ct.store(y, 0, m + m)  # here


@wrong("TILETYPE", "a condition must be a scalar", "bool_ tile of shape (16,)", "ct.where")
def tile_condition(x, y):
    t = ct.load(x, 0, 16)
    if t > 0:  # here
        ct.store(y, 0, t)


@wrong("TILETYPE", "a condition must be a scalar")
def tile_and(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, ct.where(t > 0 and t < 1, t, 0))  # here


@wrong("TILETYPE", "comparisons of tiles do not chain", "(a < b) & (b < c)")
def tile_chain(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, ct.where(0 < t < 1, t, 0))  # here


@wrong("TILETYPE", "bitcast()", "differ in width")
def bitcast_width(x, y):
    ct.store(y, 0, ct.bitcast(ct.load(x, 0, 16), ct.float16))  # here


@wrong("TILETYPE", "astype(): float32 to float8_e8m0fnu has no rounding mode RN", "RZ or RP")
def scale_without_rounding(x, y):
    z = ct.astype(ct.load(x, 0, 16), ct.float8_e8m0fnu)  # here
    ct.store(y, 0, z)


@wrong("TILETYPE", "integer powers need a constant exponent", args=(array("int32"), A))
def int_power(x, y):
    t = ct.load(x, 0, 16)
    ct.store(x, 0, t**t)  # here


@wrong("TILETYPE", "flush_to_zero is for float32, found float16", args=(array("float16"), A))
def flush_half(x, y):
    t = ct.load(x, 0, 16)
    ct.store(x, 0, ct.add(t, t, flush_to_zero=True))  # here


@wrong("TILETYPE", "does not take RoundingMode.APPROX")
def bad_rounding(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, ct.mul(t, t, rounding_mode=ct.RoundingMode.APPROX))  # here


@wrong("TILETYPE", "atomic_max() does not exist for float32", "int32, int64")
def float_atomic_max(x, y):
    ct.atomic_max(x, 0, 1.0)  # here


@wrong("TILETYPE", "padding NEG_INF is for floats, found int32", args=(array("int32"), A))
def padding_of_ints(x, y):
    ct.store(x, 0, ct.load(x, 0, 16, padding_mode=ct.PaddingMode.NEG_INF))  # here


@wrong("TILETYPE", "MemoryOrder.ACQUIRE needs a memory_scope")
def order_without_scope(x, y):
    ct.store(y, 0, ct.load(x, 0, 16, memory_order=ct.MemoryOrder.ACQUIRE))  # here


@wrong("TILETYPE", "a kernel returns nothing", "store results")
def kernel_returns(x, y):
    return ct.load(x, 0, 16)  # here


# ---- shapes and constants ----------------------------------------------------------------------------------


@wrong("TILETYPE", "dimension 0 of 'shape' is 24, which is not a power of two")
def shape_not_power(x, y):
    ct.store(y, 0, ct.load(x, 0, 24))  # here


@wrong(
    "TILETYPE",
    "must be a tuple of integers (item 0) known at compile time",
    "int32 scalar",
    "ct.Constant[int]",
    args=(A, scalar("int32")),
)
def shape_at_run_time(x, n):
    ct.store(x, 0, ct.load(x, 0, (n,)))  # here


@wrong("TILETYPE", "the tile has shape (4, 4), the array rank 1")
def shape_rank(x, y):
    ct.store(y, 0, ct.load(x, (0, 0), (4, 4)))  # here


@wrong("TILETYPE", "'index' has 1 item for 2 dimensions", args=(A2, A))
def index_rank(x, y):
    ct.store(y, 0, ct.load(x, 0, (4, 4)))  # here


@wrong("TILETYPE", "item 0 of 'index' must be an integer scalar", "constant 0.5")
def index_float(x, y):
    ct.store(y, 0, ct.load(x, (0.5,), 16))  # here


@wrong("TILETYPE", "shapes (16,) and (8,) do not broadcast")
def shapes_differ(x, y):
    ct.store(y, 0, ct.load(x, 0, 16) + ct.load(x, 0, 8))  # here


@wrong("TILETYPE", "reshape()", "has 16 elements", "has 32")
def reshape_count(x, y):
    ct.store(y, 0, ct.reshape(ct.load(x, 0, 16), (32,)))  # here


@wrong("TILETYPE", "axis 2 is out of range for rank 1")
def axis_range(x, y):
    ct.store(y, 0, ct.sum(ct.load(x, 0, 16), axis=2))  # here


@wrong("TILETYPE", "inner dimensions 8 and 4 differ", args=(A2, A2))
def mma_inner(x, y):
    ct.store(y, (0, 0), ct.load(x, (0, 0), (4, 8)) @ ct.load(x, (0, 0), (4, 8)))  # here


@wrong("TILETYPE", "mma() of float32 accumulates in float32, found float16 tile", args=(A2, A2))
def mma_accumulator(x, y):
    t = ct.load(x, (0, 0), (8, 8))
    ct.store(y, (0, 0), ct.mma(t, t, ct.zeros((8, 8), ct.float16)))  # here


@wrong("TILETYPE", "more than 16777216 elements")
def too_large(x, y):
    ct.store(y, 0, ct.zeros((1 << 25,), ct.float32))  # here


@wrong("TILETYPE", "index 4 of axis 0 is out of range; there are 4 parts")
def extract_range(x, y):
    ct.store(y, 0, ct.extract(ct.load(x, 0, 16), 4, 4))  # here


@wrong("TILETYPE", "axis 3 is not 0, 1 or 2")
def bid_axis(x, y):
    ct.store(y, ct.bid(3), 1.0)  # here


@wrong("TILETYPE", "variable 'a' has different types after the 'if'", "1.0 for 1")
def branches_of_two_categories(x, y):
    if ct.bid(0) == 0:
        a = 1
    else:
        a = 2.0
    ct.store(y, 0, a)  # here


@wrong("TILETYPE", "changes its type in the loop", "constant 1 before it, float32 scalar at its end")
def loop_to_another_category(x, y):
    a = 1
    for _ in range(ct.num_blocks(0)):
        a *= 2.0  # here
    ct.store(y, 0, a)


@wrong("TILETYPE", "'returns_two' returns values of different types", "constant 3", "constant 5.0")
def returns_of_two_categories(x, y):
    ct.store(y, 0, returns_two())


def returns_two():  # here
    if ct.bid(0) == 0:
        return 3
    return 5.0


@wrong("TILETYPE", "the two values of a conditional expression differ in type")
def choice_of_two_categories(x, y):
    ct.store(y, 0, 1 if ct.bid(0) == 0 else 2.5)  # here


@wrong("TILETYPE", "atomic_store_or(): 'update' must be of exactly the array's dtype, int64", args=(array("int64"), A))
def narrow_bits(x, y):
    x.tiled_view(16).atomic_store_or(0, ct.zeros((16,), ct.int32))  # here


@wrong("TILETYPE", "astype(): float8_e8m0fnu to float16 has no rounding mode RA", args=(array("float8_e8m0fnu"), A))
def scale_rounded_away(x, y):
    ct.astype(ct.load(x, 0, 16), ct.float16, rounding_mode=ct.RoundingMode.RA)  # here


@wrong("SYNTAX", "static_eval() is called through a variable", "write ct.static_eval(...)")
def static_eval_by_another_name(x, y):
    f = ct.static_eval
    ct.store(y, 0, f(1.0))  # here


@wrong("SYNTAX", "static_iter() is called through a variable")
def static_iter_by_another_name(x, y):
    f = ct.static_iter
    for i in f(range(3)):  # here
        ct.store(y, i, 1.0)


@wrong("SYNTAX", "static_iter() stands only behind `in`", "tuple(x for x in ct.static_iter(...))")
def static_iter_as_a_value(x, y):
    t = ct.static_iter(range(3))  # here
    ct.store(y, t[0], 1.0)


@wrong("TILETYPE", "static_assert(): the condition must be a bool", "found: constant 42")
def static_assert_of_a_number(x, y):
    ct.static_assert(42)  # here


@wrong("TILETYPE", "@: int8 and uint8 have no common dtype", args=(array("int8", 2), array("uint8", 2)))
def product_of_both_signs(x, y):
    ct.matmul(ct.load(x, (0, 0), (16, 16)), ct.load(y, (0, 0), (16, 16)))  # here


@wrong("TILETYPE", "mma_scaled() takes two tiles of one of", args=(array("float8_e4m3fn", 2), array("float8_e5m2", 2)))
def scaled_product_of_two_formats(x, y):
    scale = ct.ones((32, 1), ct.float8_e8m0fnu)
    left, right = ct.load(x, (0, 0), (32, 32)), ct.load(y, (0, 0), (32, 32))
    ct.mma_scaled(left, scale, right, scale.reshape((1, 32)), ct.zeros((32, 32), ct.float32))  # here


@wrong("SYNTAX", "a format specification must be known at compile time", "{x:5.2f}")
def computed_format(x, y):
    width = ct.bid(1)
    print(f"{ct.bid(0):{width}}")  # here


@wrong("TILETYPE", "format specification '10' is for numbers and tiles, found tuple")
def format_of_a_tuple(x, y):
    print(f"{x.shape:10}")  # here


@wrong("TILETYPE", "cannot add float32 tile of shape (4,) and tuple (", "ct.astile(x) makes a tile")
def array_of_the_host_as_operand(x, y):
    ct.store(y, 0, ct.load(x, 0, 4) + HOST)  # here


@wrong("TILETYPE", "the index of a tuple must be an integer known at compile time", "ct.astile(x) makes a tile")
def array_of_the_host_by_an_index(x, y):
    ct.store(y, 0, HOST[ct.bid(0)])  # here


@wrong("TILETYPE", ") has no attribute 'shape'", "ct.astile(x) makes a tile")
def shape_of_an_array_of_the_host(x, y):
    ct.store(y, 0, HOST.shape[0])  # here


@wrong("TILETYPE", "insert(): 'value' must be of exactly the tile's dtype, float16", args=(array("float16"), A))
def insert_of_another_dtype(x, y):
    ct.insert(ct.load(x, 0, 16), 0, ct.full((4,), 70000, ct.int32))  # here


@wrong("TILETYPE", "astile(): 'value' must be a number, a scalar or a nested tuple of them", "int32 tile of shape (4,)")
def astile_of_a_tile(x, y):
    ct.astile(ct.full((4,), 1, ct.int32), dtype=ct.int32)  # here


@wrong("TILETYPE", "a tile indexed with a slice alone is the tile itself", "t[:, None] adds an axis")
def bare_slice(x, y):
    ct.store(y, 0, ct.load(x, 0, 16)[:])  # here


@wrong("TILETYPE", "'value' of shape (8,) does not broadcast to the indices' shape (1,)", "ct.arange")
def more_values_than_offsets(x, y):
    y.get_raw_memory().store_offset(ct.arange(1, dtype=ct.int64), ct.zeros((8,), ct.float32))  # here


@wrong("TILETYPE", "'mask' of shape (8,) does not broadcast to the indices' shape ()")
def more_masks_than_indices(x, y):
    ct.gather(x, 0, mask=ct.load(x, 0, 8) > 0)  # here


@wrong("TILEVALUE", "cannot unpack a tuple of 2 items into 3 names", "*rest")
def too_many_names(x, y):
    a, b, c = (1, 2)  # here


@wrong("SYNTAX", "variable 'late' has no value here")
def assigned_later(x, y):
    ct.store(y, 0, late)  # here
    late = 1.0


@wrong("TILEVALUE", "division of a constant by zero")
def divide_by_zero(x, y):
    ct.store(y, 0, 1 // 0)  # here


@wrong("TILEVALUE", "constant 1 >> constant -2 is not an integer")
def negative_shift(x, y):
    ct.store(y, 0, 1 >> -2)  # here


@wrong("TILETYPE", "the step of range is 0")
def range_step(x, y):
    for i in range(0, 10, 0):  # here
        ct.store(y, i, 1.0)


@wrong("STATICEVAL", "evaluated by Python, which this program does not have")
def host_is_missing(x, y):
    ct.static_eval(print("here"))  # here


@wrong("STATICASSERT", "static assertion failed: ranks differ")
def static_assert_fails(x, y):
    ct.static_assert(x.ndim == 2, "ranks differ")  # here


@wrong("TILETYPE", "not known at compile time", args=(A, scalar("int32")))
def static_assert_dynamic(x, n):
    ct.static_assert(n > 0)  # here


@wrong("STATICASSERT", "ensure_constant(): the value is not known", args=(A, scalar("int32")))
def ensure_constant_dynamic(x, n):
    ct.store(x, ct.ensure_constant(n), 1.0)  # here


# ---- methods by the name that is written -------------------------------------------------------------------


@wrong("TILETYPE", ": slice() misses its argument 'stop'", "it takes axis, start, stop")
def slice_without_stop(x, y):
    x.slice(0, 1)  # here


@wrong("TILETYPE", ": astype(): 'dtype' must be a dtype", "found: constant 3")
def method_astype(x, y):
    ct.load(x, 0, 16).astype(3)  # here


@wrong("TILETYPE", ": load() takes at most 1 positional argument, got 2", "pass the others by name")
def method_positionals(x, y):
    x.tiled_view(4).load(0, 3)  # here


@wrong("TILETYPE", "load_offset() has no argument named 'wrong'", "it takes offset, mask=, padding_value=")
def method_keyword(x, y):
    x.get_raw_memory().load_offset(0, wrong=1)  # here


@wrong("TILETYPE", "cannot add method 'slice' and constant 1")
def method_as_a_value(x, y):
    return x.slice + 1  # here


# ---- functions of ct.reduce and ct.scan --------------------------------------------------------------------


def wide_result(a, b):
    return ct.astype(a, ct.float64)


def pair(a, b):
    return a, b


@wrong("TILETYPE", "reduce()", "float64", "float32")
def reduce_of_another_dtype(x, y):
    return ct.reduce(ct.load(x, 0, 16), 0, wide_result, 0.0)  # here


@wrong("TILETYPE", "scan(): the function must give 1 value", "found: tuple")
def scan_of_two_values(x, y):
    return ct.scan(ct.load(x, 0, 16), 0, pair, 0.0)  # here


@wrong("SYNTAX", "reduce(): the function must be pure", "found: a branch", "ct.where")
def reduce_by_a_branch(x, y):
    def branching(a, b):
        if a > b:  # here
            return a + b.type()
        return b

    return ct.reduce(ct.load(x, 0, 16), 0, branching, 0.0)


@wrong("TILETYPE", "wanted a function, found constant 1", "such as ct.add")
def reduce_by_a_number(x, y):
    return ct.reduce(ct.load(x, 0, 16), 0, 1, 0.0)  # here


# ---- ranges of dtypes ----------------------------------------------------------------------------------------


@wrong("TILEVALUE", "constant -1 does not fit in uint32", "use a signed dtype")
def negative_in_an_unsigned_tile(x, y):
    return ct.full((4,), 1, ct.uint32) + (-1)  # here


@wrong("TILEVALUE", "constant -1 does not fit in uint8", "use a signed dtype")
def negative_fill(x, y):
    return ct.full((4,), -1, ct.uint8)  # here


@wrong("TILEVALUE", "constant 300 does not fit in uint8", "use a wider dtype")
def large_in_a_narrow_tile(x, y):
    return ct.full((4,), 1, ct.uint8) + 300  # here


# ---- control flow ------------------------------------------------------------------------------------------


@wrong(
    "TILETYPE",
    "variable 'z' has no value here",
    "only one branch of the 'if'",
    args=(A, scalar("int32")),
)
def one_branch(x, n):
    if n > 0:
        z = ct.load(x, 0, 16)
    ct.store(x, 0, z)  # here


@wrong(
    "TILETYPE",
    "variable 'z' has different types",
    "float32 tile of shape (16,)",
    "shape (8,)",
    args=(A, scalar("int32")),
)
def branch_types(x, n):
    if n > 0:
        z = ct.load(x, 0, 16)
    else:
        z = ct.load(x, 0, 8)
    ct.store(x, 0, z)  # here


@wrong(
    "TILETYPE",
    "variable 'acc' changes its type in the loop",
    "shape (16,) before it",
    "float64",
    args=(A, scalar("int32")),
)
def loop_type(x, n):
    acc = ct.zeros((16,), ct.float32)
    for i in range(n):
        acc = acc + ct.astype(ct.load(x, i, 16), ct.float64)  # here
    ct.store(x, 0, acc)


@wrong(
    "TILETYPE",
    "variable 't' has no value here",
    "first assigned inside the loop",
    args=(A, scalar("int32")),
)
def after_loop(x, n):
    for i in range(n):
        t = ct.load(x, i, 16)
    ct.store(x, 0, t)  # here


@wrong("TILETYPE", "returns values of different types", args=(A, scalar("int32")))
def helper_returns(x, n):
    ct.store(x, 0, two_types(n))


def two_types(n):  # here
    if n > 0:
        return 1.5
    return (1, 2)


@wrong("RECURSION", "'forever' calls itself on every path", args=(A, scalar("int32")))
def endless_recursion(x, n):
    ct.store(x, 0, forever(n))


def forever(n):
    return forever(n + 1)


@wrong("RECURSION", "'down' calls itself, and only the running kernel knows when that ends", args=(A, scalar("int32")))
def recursion_of_run_time(x, n):
    ct.store(x, 0, down(n))


def down(n):
    return 0 if n < 1 else down(n - 1) + 1  # here


@wrong("SYNTAX", "must be pure", "found: one of them in line")
def impure_reduction(x, y):
    def f(a, b):
        return a + b + ct.load(x, 0, ())

    ct.store(y, 0, ct.reduce(ct.load(x, 0, 16), 0, f, 0))  # here


# ---- calls ---------------------------------------------------------------------------------------------------


@wrong("TILETYPE", "load() misses its argument 'shape'")
def missing_argument(x, y):
    ct.store(y, 0, ct.load(x, 0))  # here


@wrong("TILETYPE", "takes at most 1 positional argument")
def too_many_arguments(x, y):
    ct.store(y, ct.bid(0, 1), 1.0)  # here


@wrong("TILETYPE", "load() has no argument named 'padding'")
def unknown_keyword(x, y):
    ct.store(y, 0, ct.load(x, 0, 16, padding=0))  # here


@wrong("TILETYPE", "load() has no argument named 'padding_mod'", "did you mean 'padding_mode'")
def mistyped_keyword(x, y):
    ct.store(y, 0, ct.load(x, 0, 16, padding_mod=0))  # here


@wrong("TILETYPE", "exp() takes 'x' by position only")
def positional_only(x, y):
    ct.store(y, 0, ct.exp(x=ct.load(x, 0, 16)))  # here


@wrong("TILETYPE", "helper() misses its argument 'b'")
def helper_arity(x, y):
    ct.store(y, 0, helper(1))  # here


@wrong(
    "TILETYPE",
    'cannot add float32 tile of shape (16,) and string "a"',
    "'helper' is called here, in 'error_in_helper'",
)
def error_in_helper(x, y):
    ct.store(y, 0, helper(ct.load(x, 0, 16), "a"))


def helper(a, b):
    return a + b  # here


@wrong("TILETYPE", "builtin 'open' is not part of the tile language", "read the file on the host")
def host_function(x, y):
    open("file")  # here


@wrong("TILETYPE", "'x' must be a tile or a number", "found: tuple (constant float64(0.0)")
def host_array(x, y):
    ct.store(y, 0, ct.exp(HOST))  # here


@wrong("TILETYPE", "index of a list must be an integer scalar", args=(array_list(), A))
def list_index(x, y):
    ct.store(y, 0, ct.load(x[0.5], 0, 16))  # here


@wrong("TILETYPE", "kernel 'too_few' takes 3 arguments, got 2")
def too_few(x, y, z):  # here
    ct.store(y, 0, 1.0)


@wrong("TILETYPE", "kernel 'too_many' takes 1 arguments, got more", args=(A, const(1)))
def too_many(x):  # here
    ct.store(x, 0, 1.0)


# ------------------------------------------------------------------------------------------------------------


def marked_line() -> dict[str, int]:
    """Line of the first `# here` at or after each function's start."""
    lines = inspect.getsource(inspect.getmodule(marked_line)).splitlines()
    marks = [i for i, line in enumerate(lines, 1) if line.rstrip().endswith("# here")]
    starts = {m[1]: i for i, line in enumerate(lines, 1) if (m := re.match(r"def (\w+)", line))}
    return {name: next((m for m in marks if m >= at), 0) for name, at in starts.items()}


@pytest.mark.parametrize("function,args,status,parts", CASES)
def test_wrong_kernel(function, args, status, parts):
    with pytest.raises(LowerError) as caught:
        lower(function, *args)
    text = str(caught.value)
    for part in parts:
        assert part in text
    assert caught.value.status == status
    place, _, _ = text.partition(" ")
    if function.__name__ not in ("endless_recursion", "loop_type"):
        assert place == f"{__file__}:{marked_line()[function.__name__]}:{place.split(':')[2]}:"
    assert re.search(r"\n *\d+ \| .*\n +\| +\^~*", text)


def test_cases_are_many():
    assert len(CASES) >= 60
