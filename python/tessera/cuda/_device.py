# SPDX-License-Identifier: Apache-2.0
"""What kernels of threads name: indices, barriers, memory of the block, exchanges within a warp, atomics.

Each is a stub (``_stub.py``). Names, arguments and results are those of numba.cuda. Those of asynchronous copies, of
products of matrices and of float16 have modules of their own beside this one.
"""

from __future__ import annotations

from typing import Any

from ._device_copies import bulk, mbarrier, tma
from ._device_float16 import fp16
from ._device_products import mma, wgmma
from ._stub import _op, _Value

__all__ = [
    "activemask", "all_sync", "any_sync", "asm", "atomic", "ballot_sync", "blockDim", "blockIdx",
    "brev", "bulk", "carray", "cbrt", "cg", "clz", "const", "cp_async", "cp_async_commit", "cp_async_wait", "eq_sync",
    "farray", "ffs", "fma", "fp16", "grid", "gridDim",
    "gridsize", "laneid", "lanemask_lt", "ldca", "ldcg", "ldcs", "ldcv", "ldlu", "literal_unroll", "literally",
    "load_vector", "local", "match_all_sync", "match_any_sync", "mbarrier", "mma", "nanosleep", "popc", "prefetch",
    "selp", "shared", "shfl_down_sync",
    "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "stcg", "stcs", "store_vector", "stwb", "stwt", "syncthreads",
    "syncthreads_and", "syncthreads_count", "syncthreads_or", "syncwarp", "threadfence",
    "threadfence_block", "threadfence_system", "threadIdx", "tma", "warpsize", "wgmma",
]  # fmt: skip


@_op("bound")
def bound(is_bound: Any, value: Any, name: str) -> Any:
    """``value``, the local variable ``name``; UnboundLocalError where it has none. Written by tessera._pack."""


class threadIdx:
    """Where the thread is in its block: ``.x``, ``.y``, ``.z``, each int32."""

    __tessera_names__ = True
    x = _Value("threadIdx_x", "Along the first axis.")
    y = _Value("threadIdx_y", "Along the second axis.")
    z = _Value("threadIdx_z", "Along the third axis.")


class blockIdx:
    """Where the block is in the grid: ``.x``, ``.y``, ``.z``, each int32."""

    __tessera_names__ = True
    x = _Value("blockIdx_x", "Along the first axis.")
    y = _Value("blockIdx_y", "Along the second axis.")
    z = _Value("blockIdx_z", "Along the third axis.")


class blockDim:
    """Threads of a block along each axis: ``.x``, ``.y``, ``.z``, each int32."""

    __tessera_names__ = True
    x = _Value("blockDim_x", "Along the first axis.")
    y = _Value("blockDim_y", "Along the second axis.")
    z = _Value("blockDim_z", "Along the third axis.")


class gridDim:
    """Blocks of the grid along each axis: ``.x``, ``.y``, ``.z``, each int32."""

    __tessera_names__ = True
    x = _Value("gridDim_x", "Along the first axis.")
    y = _Value("gridDim_y", "Along the second axis.")
    z = _Value("gridDim_z", "Along the third axis.")


laneid = _Value("laneid", "The thread's number in its warp, 0 to 31, int32.")
warpsize = _Value("warpsize", "Threads of a warp, 32, int32.")


@_op("grid")
def grid(ndim: int, /) -> Any:
    """The thread's position in the whole grid: an int64, or for 2 and 3 axes a tuple of them.

    Parameters
    ----------
    ndim : int
        Axes, 1 to 3, known at compile time.
    """


@_op("gridsize")
def gridsize(ndim: int, /) -> Any:
    """Threads of the whole grid along each of ``ndim`` axes: an int64, or a tuple of them."""


@_op("syncthreads")
def syncthreads() -> None:
    """Waits until all threads of the block are here; what they wrote before is seen after it."""


@_op("syncthreads_count")
def syncthreads_count(predicate: Any, /) -> Any:
    """As ``syncthreads``; gives how many threads have a true predicate, int32."""


@_op("syncthreads_and")
def syncthreads_and(predicate: Any, /) -> Any:
    """As ``syncthreads``; 1 where all threads have a true predicate, else 0, int32."""


@_op("syncthreads_or")
def syncthreads_or(predicate: Any, /) -> Any:
    """As ``syncthreads``; 1 where any thread has a true predicate, else 0, int32."""


@_op("syncwarp")
def syncwarp(mask: Any = 0xFFFFFFFF) -> None:
    """Waits until the lanes of the warp that the mask names are here."""


@_op("threadfence_block")
def threadfence_block() -> None:
    """Orders this thread's accesses to memory as its block sees them."""


@_op("threadfence")
def threadfence() -> None:
    """Orders this thread's accesses to memory as the device sees them."""


@_op("threadfence_system")
def threadfence_system() -> None:
    """Orders this thread's accesses to memory as all devices and the host see them."""


@_op("nanosleep")
def nanosleep(ns: int, /) -> None:
    """Rests for about ``ns`` nanoseconds, a constant, at most 65535."""


@_op("shfl_sync")
def shfl_sync(mask: Any, value: Any, src_lane: Any) -> Any:
    """The value of lane ``src_lane``, of the lanes that the mask names."""


@_op("shfl_up_sync")
def shfl_up_sync(mask: Any, value: Any, delta: Any) -> Any:
    """The value of the lane ``delta`` below; the own one where there is none."""


@_op("shfl_down_sync")
def shfl_down_sync(mask: Any, value: Any, delta: Any) -> Any:
    """The value of the lane ``delta`` above; the own one where there is none."""


@_op("shfl_xor_sync")
def shfl_xor_sync(mask: Any, value: Any, lane_mask: Any) -> Any:
    """The value of the lane whose number is the own one xor ``lane_mask``."""


@_op("all_sync")
def all_sync(mask: Any, predicate: Any) -> Any:
    """Whether the predicate is true in all lanes that the mask names."""


@_op("any_sync")
def any_sync(mask: Any, predicate: Any) -> Any:
    """Whether the predicate is true in any lane that the mask names."""


@_op("eq_sync")
def eq_sync(mask: Any, predicate: Any) -> Any:
    """Whether the predicate is the same in all lanes that the mask names."""


@_op("ballot_sync")
def ballot_sync(mask: Any, predicate: Any) -> Any:
    """A bit for each lane that the mask names and whose predicate is true, int32."""


@_op("match_any_sync")
def match_any_sync(mask: Any, value: Any) -> Any:
    """A bit for each lane that the mask names and that has the same value, int32."""


@_op("match_all_sync")
def match_all_sync(mask: Any, value: Any) -> Any:
    """``(mask, True)`` where all lanes that the mask names have one value, else ``(0, False)``."""


@_op("activemask")
def activemask() -> Any:
    """A bit for each lane of the warp that is here, uint32."""


@_op("lanemask_lt")
def lanemask_lt() -> Any:
    """A bit for each lane below this one, uint32."""


@_op("popc")
def popc(x: Any, /) -> Any:
    """How many bits are 1, in the dtype of ``x``."""


@_op("clz")
def clz(x: Any, /) -> Any:
    """How many zeros stand above the highest 1, in the dtype of ``x``."""


@_op("ffs")
def ffs(x: Any, /) -> Any:
    """The number of the lowest 1, from 1; 0 of 0; uint32."""


@_op("brev")
def brev(x: Any, /) -> Any:
    """The 32 or 64 bits in the other order."""


@_op("fma")
def fma(a: Any, b: Any, c: Any, /) -> Any:
    """``a * b + c``, rounded once."""


@_op("cbrt")
def cbrt(x: Any, /) -> Any:
    """The cube root."""


@_op("selp")
def selp(p: Any, a: Any, b: Any, /) -> Any:
    """``a`` where ``p`` is true, else ``b``; both are computed."""


@_op("ldca")
def ldca(array: Any, index: Any, /) -> Any:
    """``array[index]``, kept in all caches."""


@_op("ldcg")
def ldcg(array: Any, index: Any, /) -> Any:
    """``array[index]``, kept in the cache of the device."""


@_op("ldcs")
def ldcs(array: Any, index: Any, /) -> Any:
    """``array[index]``, likely read once."""


@_op("ldlu")
def ldlu(array: Any, index: Any, /) -> Any:
    """``array[index]``, read for the last time."""


@_op("ldcv")
def ldcv(array: Any, index: Any, /) -> Any:
    """``array[index]``, read anew each time."""


@_op("stcg")
def stcg(array: Any, index: Any, value: Any, /) -> None:
    """``array[index] = value``, kept in the cache of the device."""


@_op("stcs")
def stcs(array: Any, index: Any, value: Any, /) -> None:
    """``array[index] = value``, likely written once."""


@_op("stwb")
def stwb(array: Any, index: Any, value: Any, /) -> None:
    """``array[index] = value``, written back by the caches."""


@_op("stwt")
def stwt(array: Any, index: Any, value: Any, /) -> None:
    """``array[index] = value``, written through the caches."""


@_op("load_vector")
def load_vector(array: Any, index: Any, count: Any) -> Any:
    """A tuple of ``count`` neighbours of an array, from ``array[index]`` on along the last axis, by one access.

    Parameters
    ----------
    array : array
        Of numbers that lie side by side along the last axis, in global or shared memory.
    index : integer or tuple of them
        The first element. Its address must be a multiple of all bytes that are read: on a GPU another one is an error
        of the device. Arrays as allocated begin at such addresses.
    count : constant
        1, 2, 4, 8 or 16, at most 16 bytes in all.

    Notes
    -----
    With ``checked=True`` bounds and address are looked at. Where the compiler can see all this, it makes such accesses
    of plain ones.

    Examples
    --------
    >>> @cuda.jit
    ... def scale(x, y):  # float32
    ...     i = 4 * cuda.grid(1)
    ...     if i < x.size:
    ...         a, b, c, d = cuda.load_vector(x, i, 4)
    ...         cuda.store_vector(y, i, (2 * a, 2 * b, 2 * c, 2 * d))
    """


@_op("store_vector")
def store_vector(array: Any, index: Any, values: Any) -> None:
    """Stores a tuple of numbers from ``array[index]`` on, by one access; else as ``load_vector``."""


@_op("prefetch")
def prefetch(array: Any, index: Any, /) -> None:
    """Fetches ``array[index]`` and what lies around it into the cache of a GPU. It changes nothing, and on the CPU
    device does nothing."""


@_op("cp_async")
def cp_async(to: Any, to_index: Any, source: Any, index: Any, count: Any, valid: Any = None) -> None:
    """Begins to copy neighbours of an array in global memory into shared memory, past the registers.

    Parameters
    ----------
    to, to_index : array in shared memory, its first element that is written
    source, index : array in global memory of the same dtype, its first element that is read
    count : constant
        How many elements lie side by side along the last axis of both: 4, 8 or 16 bytes, at a multiple of as many.
    valid : integer, optional
        So many of the elements are read, and the others become zeros; 0 reads nothing, wherever the index is.

    Notes
    -----
    The elements are there when the thread has waited: ``cp_async_commit`` makes a group of the copies that the thread
    began since the last one, ``cp_async_wait(n)`` waits until at most n groups are under way. Other threads see them
    after a barrier that follows. On the CPU device a copy is made at once.
    """


@_op("cp_async_commit")
def cp_async_commit() -> None:
    """Makes a group of the thread's copies since the last one."""


@_op("cp_async_wait")
def cp_async_wait(pending: Any = 0) -> None:
    """Waits until at most ``pending`` (a constant, 0 to 7) of the thread's groups are under way."""


@_op("asm")
def asm(text: str, result: Any, /, *values: Any) -> Any:
    """PTX, as it stands.

    Parameters
    ----------
    text : constant text
        Instructions of PTX. ``$0``, ``$1`` .. are registers: those of the results, then those of the values; ``$$`` is
        a ``$``. It stands in a block of its own, so that it may declare registers and labels. A first line such as
        ``.version 8.6`` says which version of PTX it needs beyond 8.0.
    result : dtype, tuple of dtypes or None
        What it gives.
    values : numbers and arrays
        Numbers of 16, 32 and 64 bits are in registers of their size (``.b32``, ``.f32`` for float32, ``.f64``), a bool
        is a predicate, an array is the address of its first element: 64 bits in global and local memory, 32 in shared
        memory.

    Returns
    -------
    number, tuple of numbers or None

    Notes
    -----
    It is never removed, moved or made once for two calls, and is taken to read and write all memory. The compiler does
    not read the text: the driver's assembler does, at the first launch. On the CPU device a kernel with PTX is refused,
    with its line.

    Examples
    --------
    >>> @cuda.jit
    ... def kernel(x, out):
    ...     i = cuda.grid(1)
    ...     out[i] = cuda.asm("lop3.b32 $0, $1, $2, $3, 0x96;", np.uint32, x[i], np.uint32(5), np.uint32(9))
    """


@_op("literal_unroll")
def literal_unroll(container: Any, /) -> Any:
    """The tuple itself: loops over tuples are unrolled, whatever their items are."""


@_op("literally")
def literally(value: Any, /) -> Any:
    """The value itself, which must be known at compile time."""


class GridGroup:
    """All threads of all blocks of a launch: what ``cuda.cg.this_grid()`` gives."""

    __tessera_names__ = True

    @_op("cg_sync")
    def sync(self, /) -> Any:
        """Waits until all threads of the grid are here; what they wrote before is seen after it. It gives 0."""


class ClusterGroup:
    """All threads of a block's cluster: what ``cuda.cg.this_cluster()`` gives. The launch says how many blocks make a
    cluster, ``kernel[blocks, threads, stream, shared_bytes, (2, 1, 1)]``; GPUs have clusters from sm_90 on, and on the
    CPU device each block is one."""

    __tessera_names__ = True

    @_op("cg_sync")
    def sync(self, /) -> Any:
        """Waits until all threads of the cluster are here; what they wrote before is seen after it."""

    @_op("cg_block_rank")
    def block_rank(self, /) -> Any:
        """The block's number in its cluster, int32."""

    @_op("cg_num_blocks")
    def num_blocks(self, /) -> Any:
        """Blocks of the cluster, int32."""

    @_op("cg_map_shared")
    def map_shared(self, array: Any, rank: Any) -> Any:
        """The same array of shared memory in the block ``rank`` of the cluster: it is read, written and changed by
        atomics as one's own. ``sync()`` of the cluster orders that, also before the first access, and before a block
        ends whose memory others use."""


class cg:
    """Cooperative groups. A kernel that names the grid is launched with all its blocks at once."""

    __tessera_names__ = True
    GridGroup = GridGroup
    ClusterGroup = ClusterGroup

    @staticmethod
    @_op("cg_this_grid")
    def this_grid() -> Any:
        """The group of all threads of the grid, a ``GridGroup``."""

    @staticmethod
    @_op("cg_this_cluster")
    def this_cluster() -> Any:
        """The group of all threads of the block's cluster, a ``ClusterGroup``."""


class shared:
    """Memory that the threads of a block share."""

    __tessera_names__ = True

    @staticmethod
    @_op("shared_array")
    def array(shape: Any, dtype: Any, alignment: Any = None) -> Any:
        """An array of the block: shape and dtype are known at compile time. Shape 0 is the launch's dynamic memory."""


class local:
    """Memory of one thread."""

    __tessera_names__ = True

    @staticmethod
    @_op("local_array")
    def array(shape: Any, dtype: Any, alignment: Any = None) -> Any:
        """An array of this thread alone: shape and dtype are known at compile time. It is not initialised."""


class atomic:
    """Changes of an array's element in one step; each gives what was there before."""

    __tessera_names__ = True

    @staticmethod
    @_op("atomic_add")
    def add(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] += val``."""

    @staticmethod
    @_op("atomic_sub")
    def sub(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] -= val``."""

    @staticmethod
    @_op("atomic_max")
    def max(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] = max(ary[idx], val)``; nothing with a NaN."""

    @staticmethod
    @_op("atomic_min")
    def min(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] = min(ary[idx], val)``; nothing with a NaN."""

    @staticmethod
    @_op("atomic_nanmax")
    def nanmax(ary: Any, idx: Any, val: Any) -> Any:
        """As ``max``; a number stands before a NaN."""

    @staticmethod
    @_op("atomic_nanmin")
    def nanmin(ary: Any, idx: Any, val: Any) -> Any:
        """As ``min``; a number stands before a NaN."""

    @staticmethod
    @_op("atomic_and_")
    def and_(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] &= val``."""

    @staticmethod
    @_op("atomic_or_")
    def or_(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] |= val``."""

    @staticmethod
    @_op("atomic_xor")
    def xor(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] ^= val``."""

    @staticmethod
    @_op("atomic_exch")
    def exch(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] = val``."""

    @staticmethod
    @_op("atomic_inc")
    def inc(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] = 0 if ary[idx] >= val else ary[idx] + 1``."""

    @staticmethod
    @_op("atomic_dec")
    def dec(ary: Any, idx: Any, val: Any) -> Any:
        """``ary[idx] = val if ary[idx] == 0 or ary[idx] > val else ary[idx] - 1``."""

    @staticmethod
    @_op("atomic_cas")
    def cas(ary: Any, idx: Any, old: Any, val: Any) -> Any:
        """``ary[idx] = val`` where it is ``old``."""

    @staticmethod
    @_op("atomic_compare_and_swap")
    def compare_and_swap(ary: Any, old: Any, val: Any) -> Any:
        """``ary[0] = val`` where it is ``old``."""


@_op("carray")
def carray(pointer: Any, shape: Any, dtype: Any = None) -> Any:
    """Memory behind a pointer as a row-major array.

    Parameters
    ----------
    pointer : pointer
        A parameter declared as ``CPointer(dtype)``, an address, or an array.
    shape : int or tuple of int
    dtype : dtype, optional
        Of the elements; that of the pointer.
    """


@_op("farray")
def farray(pointer: Any, shape: Any, dtype: Any = None) -> Any:
    """As ``carray``, with the first axis as the fastest."""


class const:
    """Constant memory."""

    __tessera_names__ = True

    @staticmethod
    @_op("const_array_like")
    def array_like(ary: Any, /) -> Any:
        """The elements of an array of the host, as they are when the kernel is compiled, at most 4096."""


@_op("rounded")
def rounded(x: Any, dtype: Any, rounding: str, /) -> Any:
    """A number as another dtype, rounded to nearest ("rn"), towards zero ("rz"), down ("rd") or up ("ru")."""


@_op("is_quick")
def is_quick() -> Any:
    """Whether the code is made for first launches, in as little time as may be; a constant. What the kernel does must
    not depend on it."""


@_op("reinterpreted")
def reinterpreted(x: Any, dtype: Any, /) -> Any:
    """The bits of a number as another dtype of as many bits."""


@_op("parts")
def parts(x: Any, /) -> Any:
    """The numbers that a value is made of, in order: of a number, a tuple, a named tuple or a frozen dataclass."""


@_op("whole")
def whole(like: Any, parts: Any, /) -> Any:
    """A value like ``like`` made of these numbers, which become of the dtypes that ``like`` has in their places."""


@_op("alike")
def alike(items: Any, /) -> Any:
    """A tuple of values, number by number of the dtype that holds those of all items; a literal takes that of
    others."""


@_op("known")
def known(value: Any, name: str, /) -> Any:
    """The value: an integer, or a tuple of them, known while the kernel is compiled; else a message that names it."""


@_op("refuse")
def refuse(text: str, /) -> Any:
    """Ends the compilation of a kernel that calls it, with this message."""
