# SPDX-License-Identifier: Apache-2.0
"""What kernels of threads name: indices, barriers, memory of the block, exchanges within a warp, atomics.

Each is a stub: the compiler knows it by its ``__tessera_op__`` (a row of ``src/lang/simt/simt_op.def``), and on the
host a call raises. Names, arguments and results are those of numba.cuda.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

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

F = TypeVar("F", bound=Callable[..., Any])


def _op(name: str) -> Callable[[F], F]:
    """Marks a stub as the operation ``name``."""

    def mark(fn: F) -> F:
        module = fn.__module__.removesuffix("._device")

        def outside(*args: Any, **kwargs: Any) -> Any:
            raise RuntimeError(
                f"{module.removeprefix('tessera.')}.{fn.__qualname__}() works inside a function decorated with "
                "@cuda.jit, not on the host"
            )

        outside.__name__, outside.__qualname__, outside.__doc__ = fn.__name__, fn.__qualname__, fn.__doc__
        outside.__module__ = module
        outside.__wrapped__ = fn  # type: ignore[attr-defined]
        outside.__tessera_op__ = name  # type: ignore[attr-defined]
        return outside  # type: ignore[return-value]

    return mark


class _Value:
    """A name that kernels read and do not call."""

    def __init__(self, op: str, doc: str) -> None:
        self.__tessera_op__ = op
        self.__doc__ = doc

    def __repr__(self) -> str:
        return f"<cuda.{self.__tessera_op__.replace('_', '.')}, known inside kernels>"

    def _outside(self, *_: Any) -> Any:
        name = self.__tessera_op__.replace("_", ".")
        raise RuntimeError(f"cuda.{name} has a value inside a function decorated with @cuda.jit, not on the host")

    __index__ = __int__ = __float__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _outside
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _outside
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = _outside


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


class wgmma:
    """Products of matrices on tensor cores by the 128 threads of four warps, out of shared memory, while they do other
    things: ``c + a @ b.T`` for 64 rows of a and n of b. sm_90 alone; the CPU device has it, too, with k ascending.

    Operands are arrays in shared memory of three axes, ``(chunks, rows, numbers of 16 bytes)``: number k of a row is
    ``x[k // 8, row, k % 8]`` where numbers have two bytes. One product takes two chunks. ``c`` is a tuple of n / 2
    numbers: thread t of warp w has rows ``16 * w + t // 4`` and 8 behind, columns ``8 * i + t % 4 * 2`` and the next,
    in the order of ``cuda.mma``: four of each eight columns.

    ====================================  ==========================  =========
    elements of a and b                   k of one product            c
    ====================================  ==========================  =========
    float16, bfloat16                     16                          float32
    float32, as TF32                      8                           float32
    int8, uint8                           32                          int32
    float8 (e4m3, e5m2)                   32                          float32
    ====================================  ==========================  =========

    What threads wrote to shared memory is seen after ``bulk.fence()`` by those threads and a barrier. Between ``mma``
    and the ``wait`` for it the numbers of ``c`` are not looked at, and its operands are not written.

    Examples
    --------
    >>> @cuda.jit
    ... def product(a, b, c):  # in shared memory: a (4, 64, 8), b (4, 32, 8), float16; c: 16 numbers
    ...     cuda.wgmma.fence()
    ...     for chunk in range(0, 4, 2):
    ...         c = cuda.wgmma.mma(a, (chunk, 0), b, (chunk, 0), c)
    ...     cuda.wgmma.commit()
    ...     cuda.wgmma.wait()
    ...     return c
    """

    __tessera_names__ = True

    @staticmethod
    @_op("wgmma_fence")
    def fence() -> None:
        """Before the first product, and after the thread has touched ``c`` or a fragment."""

    @staticmethod
    @_op("wgmma_mma")
    def mma(a: Any, a_index: Any, b: Any, b_index: Any, c: Any, accumulate: Any = True) -> Any:
        """Begins a product, and gives what c will be.

        Parameters
        ----------
        a, a_index : array and (chunk, row)
            64 rows from there on. Or a fragment, a tuple of numbers as ``mma.load_a`` gives them for the 16 rows of
            this warp; its index is ``None``.
        b, b_index : array and (chunk, row)
            n rows from there on, the columns of the result.
        c : tuple of numbers
            n / 2 of them; n is 8, 16, 24 .. 256.
        accumulate : bool
            Whether c counts; else the product alone is given.
        """

    @staticmethod
    @_op("wgmma_commit")
    def commit() -> None:
        """Makes a group of the products begun since the last one."""

    @staticmethod
    @_op("wgmma_wait")
    def wait(pending: Any = 0) -> None:
        """Waits until at most ``pending`` (a constant) groups are unfinished."""


class mbarrier:
    """Barriers in shared memory, which threads arrive at without waiting, and which count the bytes of bulk copies.

    A barrier is an element of an array ``cuda.shared.array(n, np.uint64)``. One thread makes it, then the block meets.
    It goes through phases, 0, 1, 2 ..: one is complete when as many threads have arrived as ``init`` said, and all
    bytes that were expected have come. From sm_80 on; bytes from sm_90 on.

    On the CPU device threads arrive without effect, copies are made at once, and ``wait`` is a barrier of the block:
    all of its threads have to come to it together. A kernel that waits in a branch for some threads is refused there,
    with its line. A wrong number of arrivals or bytes shows only on a GPU, which waits forever, and with
    ``checked="races"``.
    """

    __tessera_names__ = True

    @staticmethod
    @_op("mbarrier_init")
    def init(bars: Any, bar: Any, count: Any) -> None:
        """Makes the barrier ``bars[bar]``, whose phases ``count`` arrivals complete: one thread calls it. The others
        see it after ``cuda.syncthreads()``."""

    @staticmethod
    @_op("mbarrier_fence")
    def fence() -> None:
        """After ``init``, by the same thread: bulk copies, and other blocks of the cluster after its ``sync()``, see
        the barriers. GPUs have it from sm_90 on."""

    @staticmethod
    @_op("mbarrier_arrive")
    def arrive(bars: Any, bar: Any) -> None:
        """Arrives once, and does not wait. What the thread wrote before is seen by those that wait."""

    @staticmethod
    @_op("mbarrier_expect")
    def expect(bars: Any, bar: Any, nbytes: Any) -> None:
        """Arrives once, and the phase waits for that many bytes of copies as well."""

    @staticmethod
    @_op("mbarrier_wait")
    def wait(bars: Any, bar: Any, phase: Any) -> None:
        """Waits until the phase is complete: an integer, of which the last bit counts. Only the phase that goes on, or
        the one before it, can be waited for."""

    @staticmethod
    @_op("mbarrier_invalidate")
    def invalidate(bars: Any, bar: Any) -> None:
        """Ends the barrier: its memory may be used for something else."""


class bulk:
    """Copies of whole rows between global and shared memory, which one thread begins (GPUs from sm_90 on).

    Sizes and addresses are multiples of 16 bytes, and elements lie side by side along the last axis of both arrays.
    Shared memory that threads have written is seen by copies after ``bulk.fence()`` by those threads and a barrier.
    """

    __tessera_names__ = True

    @staticmethod
    @_op("bulk_load")
    def load(to: Any, to_index: Any, source: Any, index: Any, count: Any, bars: Any, bar: Any) -> None:
        """Begins to copy ``count`` elements from ``source[index]`` on in global memory to ``to[to_index]`` in shared
        memory. The barrier ``bars[bar]`` counts the bytes: somebody must ``mbarrier.expect`` them."""

    @staticmethod
    @_op("bulk_store")
    def store(to: Any, to_index: Any, source: Any, index: Any, count: Any) -> None:
        """Begins to copy ``count`` elements from ``source[index]`` on in shared memory to ``to[to_index]`` in global
        memory. The thread that began it makes groups of stores and waits for them: ``commit``, ``wait``."""

    @staticmethod
    @_op("bulk_commit")
    def commit() -> None:
        """Makes a group of the thread's stores since the last one."""

    @staticmethod
    @_op("bulk_wait")
    def wait(pending: Any = 0, read: Any = False) -> None:
        """Waits until at most ``pending`` (a constant) of the thread's groups are under way; with ``read=True`` only
        until they have read shared memory, which may then be written again."""

    @staticmethod
    @_op("bulk_fence")
    def fence() -> None:
        """What this thread wrote to shared memory is seen by copies that begin after a barrier that follows."""


class tma:
    """Copies of boxes between an array of up to five axes in global memory and shared memory, which one thread begins
    (GPUs from sm_90 on: tensor maps, which the launch makes of its arguments).

    The array is an argument of the kernel, as it came: its elements lie side by side along the last axis, it begins at
    a multiple of 16 bytes, and its other strides are multiples of 16 bytes. ``box`` is a tuple of constants, an extent
    of 1 to 256 for each axis; its rows are multiples of 16 bytes, and so is where it begins along the last axis (a
    ValueError where it is not). In shared memory the box is an array in C order, from a multiple of 128 bytes on, where
    shared arrays that are used so begin.
    """

    __tessera_names__ = True

    @staticmethod
    @_op("tma_load")
    def load(to: Any, to_index: Any, source: Any, index: Any, box: Any, bars: Any, bar: Any) -> None:
        """Begins to copy the box that begins at ``source[index]`` to ``to[to_index]`` in shared memory. What lies
        outside of ``source`` comes as zeros; an index may be negative, and counts from the first element then, too. The
        barrier ``bars[bar]`` counts the bytes of the whole box: somebody must ``mbarrier.expect`` them."""

    @staticmethod
    @_op("tma_store")
    def store(to: Any, index: Any, source: Any, source_index: Any, box: Any) -> None:
        """Begins to copy a box from ``source[source_index]`` on in shared memory to ``to[index]``; nothing is written
        outside of ``to``. An index below 0 is a ValueError: GPUs store no box that begins before its array. What
        threads wrote is seen after ``bulk.fence()`` by those and a barrier. The thread that began it makes groups of
        stores and waits for them: ``bulk.commit``, ``bulk.wait``."""


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


class mma:
    """Products of matrices on tensor cores, by all 32 threads of a warp together.

    ``d = a @ b + c`` of a few rows and columns; ``shape`` is ``(m, n, k)``: a has m rows and k columns, b k rows and n
    columns. Each thread holds a *fragment*, a tuple of some numbers of a matrix, in the order of the PTX instruction
    ``mma.sync``:

    ========================  ===========================  ===================
    elements of a and b       shapes                       c and the result
    ========================  ===========================  ===================
    float16, bfloat16         (16, 8, 16), (16, 8, 8)      float32
    float32, as TF32          (16, 8, 8), (16, 8, 4)       float32
    int8, uint8               (16, 8, 32), (16, 8, 16)     int32, wrapping
    float64                   (8, 8, 4); on sm_90 also     float64
                              (16, 8, 8), (16, 8, 4)
    ========================  ===========================  ===================

    All threads of the warp must come to a call, and come to it together.

    Examples
    --------
    >>> SHAPE = (16, 8, 16)
    >>> @cuda.jit
    ... def product(x, y, out):  # float16 x (16, 64), float16 y (64, 8), float32 out (16, 8); launched with 32 threads
    ...     c = (np.float32(0),) * 4
    ...     for k in range(0, 64, 16):
    ...         c = cuda.mma.sync(cuda.mma.load_a(x, (0, k), SHAPE), cuda.mma.load_b(y, (k, 0), SHAPE), c)
    ...     cuda.mma.store(out, (0, 0), c, SHAPE)
    """

    __tessera_names__ = True

    @staticmethod
    @_op("mma_sync")
    def sync(a: Any, b: Any, c: Any) -> Any:
        """The fragment of ``a @ b + c``; dtype and length of the fragments say which shape is meant.

        Parameters
        ----------
        a, b, c : tuple of numbers
            Fragments, of ``load_a``, ``load_b``, ``load_c``, or made by the thread. Constants in c take its dtype.

        Returns
        -------
        tuple of numbers
            As c.

        Notes
        -----
        Products of bytes are exact. On the CPU device floats are multiplied and added with k ascending, one fused
        multiply-add each, from c on, in the dtype of c. A GPU adds in an order of its own, and float32 sums lose bits
        below the greatest term: the results differ by some units in the last place of the sum of magnitudes. float32
        operands are rounded to TF32 (10 bits of fraction), to nearest even.
        """

    @staticmethod
    @_op("mma_load_a")
    def load_a(array: Any, index: Any, shape: Any) -> Any:
        """The fragment of a: ``array[index[0] : index[0] + m, index[1] : index[1] + k]``.

        Parameters
        ----------
        array : array of two axes
            Global, shared or local memory, of any strides.
        index : tuple of two integers
            Where the matrix begins, the same in all threads. What lies beyond the array is not checked.
        shape : tuple of three constants
            (m, n, k) of the product.
        """

    @staticmethod
    @_op("mma_load_b")
    def load_b(array: Any, index: Any, shape: Any) -> Any:
        """The fragment of b: ``array[index[0] : index[0] + k, index[1] : index[1] + n]``; else as ``load_a``."""

    @staticmethod
    @_op("mma_load_c")
    def load_c(array: Any, index: Any, shape: Any) -> Any:
        """The fragment of c: ``array[index[0] : index[0] + m, index[1] : index[1] + n]``; else as ``load_a``."""

    @staticmethod
    @_op("mma_store")
    def store(array: Any, index: Any, values: Any, shape: Any) -> None:
        """Writes the fragment of a result: ``array[index[0] : index[0] + m, index[1] : index[1] + n] = values``, each
        number converted to the array's dtype."""

    @staticmethod
    @_op("mma_ldmatrix")
    def ldmatrix(array: Any, index: Any, count: Any, transposed: Any = False) -> Any:
        """Matrices of 8 rows of 16 bytes out of shared memory, as fragments have them, by one access of the warp.

        Parameters
        ----------
        array : array in shared memory
            Of numbers of 8, 16 or 32 bits that lie side by side along the last axis.
        index : integer or tuple of them
            Where *this thread's* row begins, at a multiple of 16 bytes: thread ``8 * i + r`` of the warp names row r of
            matrix i. Threads beyond ``8 * count`` name any row.
        count : constant
            1, 2 or 4 matrices.
        transposed : constant
            Each matrix (of numbers of 16 bits) is given as if it lay the other way.

        Returns
        -------
        tuple of numbers
            Of each matrix as many as 32 bits hold, in a row, side by side: thread t has those of row ``t // 4`` from
            ``t % 4 * 32`` bits on.

        Notes
        -----
        For float16 in (16, 8, 16) the fragment of a that begins at (row, k) is
        ``ldmatrix(x, (row + lane % 16, k + lane // 16 * 8), 4)``; the fragment of b at (k, column) is
        ``ldmatrix(y, (k + lane % 16, column), 2, True)``.
        """

    @staticmethod
    @_op("mma_stmatrix")
    def stmatrix(array: Any, index: Any, values: Any, transposed: Any = False) -> None:
        """Stores what ``ldmatrix`` gives: each thread names a row, and the numbers go to where they belong. GPUs have
        it from sm_90 on."""


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


class fp16:
    """float16 by name: all arguments become float16, and results are."""

    __tessera_names__ = True

    @staticmethod
    @_op("fp16_hadd")
    def hadd(a: Any, b: Any, /) -> Any:
        """``a + b``."""

    @staticmethod
    @_op("fp16_hsub")
    def hsub(a: Any, b: Any, /) -> Any:
        """``a - b``."""

    @staticmethod
    @_op("fp16_hmul")
    def hmul(a: Any, b: Any, /) -> Any:
        """``a * b``."""

    @staticmethod
    @_op("fp16_hdiv")
    def hdiv(a: Any, b: Any, /) -> Any:
        """``a / b``."""

    @staticmethod
    @_op("fp16_heq")
    def heq(a: Any, b: Any, /) -> Any:
        """``a == b``."""

    @staticmethod
    @_op("fp16_hne")
    def hne(a: Any, b: Any, /) -> Any:
        """``a != b``."""

    @staticmethod
    @_op("fp16_hlt")
    def hlt(a: Any, b: Any, /) -> Any:
        """``a < b``."""

    @staticmethod
    @_op("fp16_hle")
    def hle(a: Any, b: Any, /) -> Any:
        """``a <= b``."""

    @staticmethod
    @_op("fp16_hgt")
    def hgt(a: Any, b: Any, /) -> Any:
        """``a > b``."""

    @staticmethod
    @_op("fp16_hge")
    def hge(a: Any, b: Any, /) -> Any:
        """``a >= b``."""

    @staticmethod
    @_op("fp16_hmax")
    def hmax(a: Any, b: Any, /) -> Any:
        """The greater one; a number before a NaN."""

    @staticmethod
    @_op("fp16_hmin")
    def hmin(a: Any, b: Any, /) -> Any:
        """The lesser one; a number before a NaN."""

    @staticmethod
    @_op("fp16_hfma")
    def hfma(a: Any, b: Any, c: Any, /) -> Any:
        """``a * b + c``, rounded once."""

    @staticmethod
    @_op("fp16_hneg")
    def hneg(a: Any, /) -> Any:
        """``-a``."""

    @staticmethod
    @_op("fp16_habs")
    def habs(a: Any, /) -> Any:
        """``abs(a)``."""

    @staticmethod
    @_op("fp16_hsin")
    def hsin(a: Any, /) -> Any:
        """The sine."""

    @staticmethod
    @_op("fp16_hcos")
    def hcos(a: Any, /) -> Any:
        """The cosine."""

    @staticmethod
    @_op("fp16_hlog")
    def hlog(a: Any, /) -> Any:
        """The natural logarithm."""

    @staticmethod
    @_op("fp16_hlog2")
    def hlog2(a: Any, /) -> Any:
        """The logarithm to base 2."""

    @staticmethod
    @_op("fp16_hlog10")
    def hlog10(a: Any, /) -> Any:
        """The logarithm to base 10."""

    @staticmethod
    @_op("fp16_hexp")
    def hexp(a: Any, /) -> Any:
        """e to the power ``a``."""

    @staticmethod
    @_op("fp16_hexp2")
    def hexp2(a: Any, /) -> Any:
        """2 to the power ``a``."""

    @staticmethod
    @_op("fp16_hexp10")
    def hexp10(a: Any, /) -> Any:
        """10 to the power ``a``."""

    @staticmethod
    @_op("fp16_hfloor")
    def hfloor(a: Any, /) -> Any:
        """The greatest whole number not above."""

    @staticmethod
    @_op("fp16_hceil")
    def hceil(a: Any, /) -> Any:
        """The least whole number not below."""

    @staticmethod
    @_op("fp16_hsqrt")
    def hsqrt(a: Any, /) -> Any:
        """The square root."""

    @staticmethod
    @_op("fp16_hrsqrt")
    def hrsqrt(a: Any, /) -> Any:
        """``1 / sqrt(a)``."""

    @staticmethod
    @_op("fp16_hrcp")
    def hrcp(a: Any, /) -> Any:
        """``1 / a``."""

    @staticmethod
    @_op("fp16_hrint")
    def hrint(a: Any, /) -> Any:
        """The nearest whole number, halves to even."""

    @staticmethod
    @_op("fp16_htrunc")
    def htrunc(a: Any, /) -> Any:
        """The whole number next to it towards zero."""


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
