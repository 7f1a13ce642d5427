# SPDX-License-Identifier: Apache-2.0
"""What `numpy.linalg` has LAPACK compute, on a GPU, by cuSOLVER where it is installed.

`numpy.linalg`'s Python programs run on our arrays then, and these are the functions that they call for stacks of
matrices: in float64 and complex128 (``signature``), as they choose. LAPACK's matrices lie column by column, so each
function works on transposed copies. Matrices of a stack are given to cuSOLVER one after the other.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from . import _functions as f
from . import _linear
from . import _reduce as r
from ._index import where
from ._joining import roll
from ._libraries import address, library, lock, on_device, scratch
from ._ndarray import ndarray
from ._operators import tril, triu
from ._ufunc import FUNCTIONS

_conjugate, _absolute = FUNCTIONS["conjugate"], FUNCTIONS["absolute"]
_TYPES = {"d": 1, "D": 5}  # cudaDataType: CUDA_R_64F, CUDA_C_64F
_LOWER, _UPPER = 0, 1  # cublasFillMode_t
_I64 = ctypes.c_int64


@functools.cache
def _handle(device: str) -> tuple[Any, Any]:
    """cuSOLVER's handle and parameters for a GPU."""
    cusolver: Any = library("cusolver")
    handle, options = ctypes.c_void_p(), ctypes.c_void_p()
    cusolver.call("cusolverDnCreate", ctypes.byref(handle))
    cusolver.call("cusolverDnCreateParams", ctypes.byref(options))
    return handle, options


class _Stack:
    """Matrices column by column: ``array`` of shape (count, columns, rows)."""

    def __init__(self, a: ndarray, dtype: str) -> None:
        self.outer = a.shape[:-2]
        self.rows, self.columns = a.shape[-2:]
        columns = f.array(f.swapaxes(a, -1, -2), dtype, order="C")
        self.array = columns.reshape(math.prod(self.outer), self.columns, self.rows)

    @classmethod
    def empty(cls, outer: tuple[int, ...], rows: int, columns: int, dtype: str, device: str) -> _Stack:
        """Matrices that a function will write."""
        made = cls.__new__(cls)
        made.outer, made.rows, made.columns = outer, rows, columns
        made.array = f.empty((math.prod(outer), columns, rows), dtype, device=device)
        return made

    def matrices(self) -> ndarray:
        """The matrices row by row, with the outer axes."""
        rows = f.swapaxes(self.array, -1, -2)
        return f.ascontiguousarray(rows).reshape(*self.outer, self.rows, self.columns)

    def first(self, count: int) -> Any:
        """The first elements of every matrix's diagonal, with the outer axes."""
        return f.diagonal(self.array, 0, -2, -1)[..., :count].reshape(*self.outer, count)


class _Pointers:
    """Where matrix k of each array begins, as arguments of C."""

    def __init__(self, array: ndarray, count: int) -> None:
        self.base = address(array)
        self.step = array.nbytes // max(count, 1)

    def __getitem__(self, k: int) -> Any:
        return ctypes.c_void_p(self.base + k * self.step)


def _each(
    name: str,
    stack: _Stack,
    arrays: Iterable[ndarray],
    args: Callable[..., list[Any]],
    sizes: Callable[..., list[Any]] | None = None,
) -> ndarray:
    """Calls cusolverDn + name for every matrix: args(pointers into arrays) are what stands between cuSOLVER's
    parameters and the memory to work in, and sizes() what the function that tells its size takes, if that differs. The
    status of each matrix: 0, or what LAPACK's is."""
    cusolver: Any = library("cusolver")
    count, device = len(stack.array), stack.array.device
    status = f.zeros(count, "i4", device=device)
    if not stack.array.size:
        return status
    with lock, on_device(stack.array):
        handle, options = _handle(device)
        places = [_Pointers(array, count) for array in (*arrays, status)]
        begin = (sizes or args)(*(place[0] for place in places[:-1]))
        on_gpu, in_host = ctypes.c_size_t(), ctypes.c_size_t()
        cusolver.call(
            f"cusolverDn{name}_bufferSize", handle, options, *begin, ctypes.byref(on_gpu), ctypes.byref(in_host)
        )
        work, host = scratch(on_gpu.value, device), ctypes.create_string_buffer(max(in_host.value, 1))
        for k in range(count):
            *pointers, done = (place[k] for place in places)
            cusolver.call(
                f"cusolverDn{name}", handle, options, *args(*pointers), ctypes.c_void_p(address(work)), on_gpu,
                host, in_host, done,
            )  # fmt: skip
    return status


def _check(status: ndarray, message: str, *results: ndarray) -> None:
    """What came of every matrix of a stack: where one went wrong, an error, or NaN in the results, one for each matrix,
    where the program ignores invalid values."""
    wrong = numpy.asarray(status) != 0
    if not wrong.any():
        return
    if numpy.geterr()["invalid"] != "ignore":
        raise LinAlgError(message)
    places = f.asarray(wrong, device=status.device)
    for result in results:
        result[places] = complex(math.nan, math.nan) if result.dtype.kind == "c" else math.nan


# -- LU --------------------------------------------------------------------------------------------------


def _lu(a: ndarray, dtype: str) -> tuple[_Stack, ndarray, ndarray]:
    """The factors, the rows exchanged (from 1), the status."""
    lu, n, kind = _Stack(a, dtype), a.shape[-1], _TYPES[dtype]
    pivots = f.zeros((len(lu.array), n), "i8", device=a.device)

    def args(matrix: Any, rows: Any) -> list[Any]:
        return [_I64(n), _I64(n), kind, matrix, _I64(n), rows, kind]

    def sizes(matrix: Any, rows: Any) -> list[Any]:
        return [_I64(n), _I64(n), kind, matrix, _I64(n), kind]

    return lu, pivots, _each("Xgetrf", lu, (lu.array, pivots), args, sizes)


def _exchanges(pivots: ndarray) -> Any:
    """1 or -1 for each matrix: the sign of its exchanges of rows."""
    n = pivots.shape[-1]
    moved = FUNCTIONS["not_equal"](pivots, f.arange(1, n + 1, device=pivots.device))
    return 1.0 - 2.0 * (f.asarray(r.sum(moved, -1)) % 2)


def _solved(a: ndarray, b: ndarray, dtype: str) -> ndarray:
    lu, pivots, status = _lu(a, dtype)
    x, n, kind = _Stack(b, dtype), lu.rows, _TYPES[dtype]
    done = f.zeros(len(lu.array), "i4", device=a.device)
    if x.array.size:
        cusolver: Any = library("cusolver")
        with lock, on_device(a):
            handle, options = _handle(a.device)
            places = [_Pointers(each, len(lu.array)) for each in (lu.array, pivots, x.array, done)]
            for k in range(len(lu.array)):
                matrix, rows, right, told = (place[k] for place in places)
                cusolver.call(
                    "cusolverDnXgetrs", handle, options, 0, _I64(n), _I64(x.columns), kind, matrix, _I64(n), rows,
                    kind, right, _I64(n), told,
                )  # fmt: skip
    _check(status, "Singular matrix", x.array)  # here, so that nobody waits between both; they divide by 0 then
    return x.matrices()


def solve(a: ndarray, b: ndarray, signature: str) -> ndarray:
    """The x of a @ x = b."""
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"solve: the rows of b must be as many as those of a, {a.shape[-1]}, found {b.shape[-2]}")
    outer = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (f.broadcast_to(each, outer + each.shape[-2:]) for each in (a, b))
    return _solved(a, b, signature[-1])


def solve1(a: ndarray, b: ndarray, signature: str) -> ndarray:
    """The vector x of a @ x = b."""
    return solve(a, f.asarray(b)[..., None], signature)[..., 0]


def inv(a: ndarray, signature: str) -> ndarray:
    """Inverses."""
    return _solved(a, f.broadcast_to(f.eye(a.shape[-1], device=a.device), a.shape), signature[-1])


def _diagonal(a: ndarray, dtype: str) -> tuple[Any, Any]:
    """The diagonals of the second factors, and the signs of the exchanges of rows."""
    lu, pivots, _ = _lu(a, dtype)
    return lu.first(a.shape[-1]), f.asarray(_exchanges(pivots)).reshape(lu.outer)


def det(a: ndarray, signature: str) -> Any:
    """Determinants."""
    diagonal, sign = _diagonal(a, signature[0])
    return r.prod(diagonal, -1) * sign


def slogdet(a: ndarray, signature: str) -> tuple[Any, Any]:
    """Signs of determinants, and logarithms of their absolute values."""
    diagonal, sign = _diagonal(a, signature[0])
    size = _absolute(diagonal)
    is_singular = r.any(size == 0, -1, keepdims=True)
    size = where(is_singular, 1, size)
    sign = where(is_singular[..., 0], 0, r.prod(FUNCTIONS["divide"](diagonal, size), -1) * sign)
    size = where(is_singular[..., 0], -math.inf, r.sum(FUNCTIONS["log"](size), -1))
    return r.scalar_of(sign), r.scalar_of(size)


# -- triangles -------------------------------------------------------------------------------------------


def _cholesky(a: ndarray, dtype: str, half: int) -> _Stack:
    made, n, kind = _Stack(a, dtype), a.shape[-1], _TYPES[dtype]

    def args(matrix: Any) -> list[Any]:
        return [half, _I64(n), kind, matrix, _I64(n), kind]

    _check(_each("Xpotrf", made, (made.array,), args), "Matrix is not positive definite", made.array)
    return made


def cholesky_lo(a: ndarray, signature: str) -> ndarray:
    """The lower triangles L of a = L @ L^H."""
    return tril(_cholesky(a, signature[0], _LOWER).matrices())


def cholesky_up(a: ndarray, signature: str) -> ndarray:
    """The upper triangles U of a = U^H @ U."""
    return triu(_cholesky(a, signature[0], _UPPER).matrices())


def qr_r_raw(a: ndarray, signature: str) -> ndarray:
    """R and, below it, the reflectors of Q, in place of a; the factors of the reflectors."""
    dtype, (m, n) = signature[0], a.shape[-2:]
    made, kind = _Stack(a, dtype), _TYPES[dtype]
    factors = f.zeros((len(made.array), min(m, n)), dtype, device=a.device)

    def args(matrix: Any, tau: Any) -> list[Any]:
        return [_I64(m), _I64(n), kind, matrix, _I64(m), kind, tau, kind]

    _each("Xgeqrf", made, (made.array, factors), args)
    a[...] = made.matrices()
    return factors.reshape(*made.outer, min(m, n))


def _orthonormal(a: ndarray, tau: ndarray, dtype: str, columns: int) -> ndarray:
    m, k = a.shape[-2], tau.shape[-1]
    whole = a[..., :columns]
    if whole.shape[-1] < columns:
        whole = f.zeros((*a.shape[:-1], columns), dtype, device=a.device)
        whole[..., : a.shape[-1]] = a
    q, factors = _Stack(whole, dtype), f.ascontiguousarray(tau)
    if not k:
        return f.broadcast_to(f.eye(m, columns, device=a.device), whole.shape).astype(dtype)
    if q.array.size:
        cusolver: Any = library("cusolver")
        name = "cusolverDnDorgqr" if dtype == "d" else "cusolverDnZungqr"
        with lock, on_device(a):
            handle, _ = _handle(a.device)
            status = f.zeros(len(q.array), "i4", device=a.device)
            places = [_Pointers(each, len(q.array)) for each in (q.array, factors, status)]
            size = ctypes.c_int()
            first = (m, columns, k, places[0][0], m, places[1][0])
            cusolver.call(f"{name}_bufferSize", handle, *first, ctypes.byref(size))
            work = scratch(size.value * numpy.dtype(dtype).itemsize, a.device)
            for i in range(len(q.array)):
                matrix, factor, told = (place[i] for place in places)
                cusolver.call(
                    name, handle, m, columns, k, matrix, m, factor, ctypes.c_void_p(address(work)), size, told
                )
    return q.matrices()


def qr_reduced(a: ndarray, tau: ndarray, signature: str) -> ndarray:
    """The first columns of Q, as many as there are reflectors."""
    return _orthonormal(a, tau, signature[0], tau.shape[-1])


def qr_complete(a: ndarray, tau: ndarray, signature: str) -> ndarray:
    """All columns of Q."""
    return _orthonormal(a, tau, signature[0], a.shape[-2])


# -- values and vectors ----------------------------------------------------------------------------------


def _symmetric(a: ndarray, dtype: str, half: int, vectors: bool) -> tuple[ndarray, _Stack]:
    made, n, kind = _Stack(a, dtype), a.shape[-1], _TYPES[dtype]
    values = f.zeros((len(made.array), n), "f8", device=a.device)

    def args(matrix: Any, w: Any) -> list[Any]:
        return [int(vectors), half, _I64(n), kind, matrix, _I64(n), _TYPES["d"], w, kind]

    status = _each("Xsyevd", made, (made.array, values), args)
    _check(status, "Eigenvalues did not converge", values, made.array)
    return values.reshape(*made.outer, n), made


def eigh_lo(a: ndarray, signature: str) -> tuple[ndarray, ndarray]:
    """Eigenvalues, ascending, and eigenvectors by the lower triangles."""
    values, vectors = _symmetric(a, signature[0], _LOWER, True)
    return values, vectors.matrices()


def eigh_up(a: ndarray, signature: str) -> tuple[ndarray, ndarray]:
    """The same by the upper triangles."""
    values, vectors = _symmetric(a, signature[0], _UPPER, True)
    return values, vectors.matrices()


def eigvalsh_lo(a: ndarray, signature: str) -> ndarray:
    """Eigenvalues, ascending, by the lower triangles."""
    return _symmetric(a, signature[0], _LOWER, False)[0]


def eigvalsh_up(a: ndarray, signature: str) -> ndarray:
    """The same by the upper triangles."""
    return _symmetric(a, signature[0], _UPPER, False)[0]


def _singular(a: ndarray, dtype: str, job: str) -> tuple[Any, ndarray, Any]:
    """U, S and V^H: all of U ("A"), its first columns ("S"), S alone ("N"). Of wide matrices by the transposed."""
    m, n = a.shape[-2:]
    if m < n:
        u, s, vh = _singular(f.asarray(_conjugate(f.swapaxes(a, -1, -2))), dtype, job)
        if job == "N":
            return None, s, None
        return _conjugate(f.swapaxes(vh, -1, -2)), s, _conjugate(f.swapaxes(u, -1, -2))
    whole, kind, device = _Stack(a, dtype), _TYPES[dtype], a.device
    u = _Stack.empty(whole.outer, m, {"A": m, "S": n, "N": 0}[job], dtype, device)
    vh = _Stack.empty(whole.outer, n, n if job != "N" else 0, dtype, device)
    values = f.zeros((len(whole.array), n), "f8", device=device)
    letter = ord(job)

    def args(matrix: Any, s: Any, left: Any, right: Any) -> list[Any]:
        return [
            letter, letter, _I64(m), _I64(n), kind, matrix, _I64(m), _TYPES["d"], s, kind, left, _I64(m), kind,
            right, _I64(n), kind,
        ]  # fmt: skip

    arrays = (whole.array, values, u.array, vh.array)
    _check(_each("Xgesvd", whole, arrays, args), "SVD did not converge", values, u.array, vh.array)
    if job == "A" and not n:
        return f.broadcast_to(f.eye(m, device=device), (*whole.outer, m, m)).astype(dtype), values, vh.matrices()
    return u.matrices(), values.reshape(*whole.outer, n), vh.matrices()


def svd_f(a: ndarray, signature: str) -> tuple[Any, ndarray, Any]:
    """U, S and V^H, U and V square."""
    return _singular(a, signature[0], "A")


def svd_s(a: ndarray, signature: str) -> tuple[Any, ndarray, Any]:
    """U, S and V^H, with as many columns and rows as there are singular values."""
    return _singular(a, signature[0], "S")


def svd(a: ndarray, signature: str) -> ndarray:
    """Singular values, descending."""
    return _singular(a, signature[0], "N")[1]


def lstsq(a: ndarray, b: ndarray, rcond: Any, signature: str) -> tuple[Any, Any, numpy.int32, ndarray]:
    """The x of least norm(b - a @ x), squares of what is left, the rank, singular values."""
    dtype, n = signature[0], a.shape[1]
    u, s, vh = _singular(a, dtype, "S")
    b = f.asarray(b, dtype)
    if not s.size:
        none = f.zeros((n, b.shape[-1]), dtype, device=a.device)
        return none, r.sum(f.asarray(_absolute(b)) ** 2, 0), numpy.int32(0), s
    is_large = f.asarray(s > float(rcond) * s[:1])
    inverse = where(is_large, FUNCTIONS["divide"](1, where(is_large, s, 1)), 0)
    parts = f.asarray(_linear.matmul(_conjugate(f.swapaxes(u, -1, -2)), b)) * inverse[:, None]
    x = f.asarray(_linear.matmul(_conjugate(f.swapaxes(vh, -1, -2)), parts))
    rest = r.sum(f.asarray(_absolute(b - _linear.matmul(f.asarray(a, dtype), x))) ** 2, 0)
    return x, rest, numpy.int32(r.sum(is_large)), s


def _eigen(a: ndarray, dtype: str, vectors: bool) -> tuple[ndarray, ndarray]:
    made, n, kind = _Stack(a, dtype), a.shape[-1], _TYPES[dtype]
    values = f.zeros((len(made.array), n), "D", device=a.device)
    right = _Stack.empty(made.outer, n, n if vectors else 0, dtype, a.device)

    def args(matrix: Any, w: Any, vr: Any) -> list[Any]:
        return [
            0, int(vectors), _I64(n), kind, matrix, _I64(n), _TYPES["D"], w, kind, None, _I64(n), kind, vr, _I64(n),
            kind,
        ]  # fmt: skip

    status = _each("Xgeev", made, (made.array, values, right.array), args)
    _check(status, "Eigenvalues did not converge", values, right.array)
    return values.reshape(*made.outer, n), right.matrices()


def eigvals(a: ndarray, signature: str) -> ndarray:
    """Eigenvalues of matrices of any kind."""
    return _eigen(a, signature[0], False)[0]


def eig(a: ndarray, signature: str) -> tuple[ndarray, ndarray]:
    """Eigenvalues and right eigenvectors of matrices of any kind. Of a real one, two columns are the real and the
    imaginary part of the vectors of two conjugate values."""
    values, columns = _eigen(a, signature[0], True)
    if signature[0] == "D":
        return values, columns
    first, second = (values.imag > 0)[..., None, :], (values.imag < 0)[..., None, :]
    real = where(second, roll(columns, 1, -1), columns)
    imag = where(first, roll(columns, -1, -1), where(second, -columns, 0))
    return values, real + 1j * imag


def has(name: str) -> bool:
    """Whether cuSOLVER is installed, in a version that has what the function of numpy.linalg needs."""
    cusolver = library("cusolver")
    return cusolver is not None and (name not in ("eig", "eigvals") or cusolver.has("cusolverDnXgeev"))
