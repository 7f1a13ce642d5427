# SPDX-License-Identifier: Apache-2.0
"""What kernels of threads name of products of matrices: ``cuda.mma``, ``cuda.wgmma``."""

from __future__ import annotations

from typing import Any

from ._stub import _op


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
