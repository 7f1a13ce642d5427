# SPDX-License-Identifier: Apache-2.0
"""`vectorize`: a function of numbers on elements of arrays, in one kernel of threads."""

from __future__ import annotations

from typing import Any

import numpy

from .. import cuda
from .. import numeric as tn
from ..cuda._typeof import as_dtype
from ._boundary import Base, give, placed, refuse_all
from ._kernels import THREADS, kernel_of, launch

__all__ = ["vectorize"]


class vectorize:
    """``vectorize(f)(x, y)``: ``f`` of the elements, by a kernel.

    Raises
    ------
    NotImplementedError
        ``otypes`` or ``signature`` is given.
    """

    def __init__(
        self,
        pyfunc: Any,
        otypes: Any = None,
        doc: Any = None,
        excluded: Any = None,
        cache: bool = False,
        signature: Any = None,
    ) -> None:
        for value, name in ((otypes, "otypes"), (signature, "signature")):
            if value is not None:
                raise NotImplementedError(
                    f"cupy.vectorize does not support `{name}` option currently."
                )
        self.pyfunc, self.excluded, self.__doc__ = (
            pyfunc,
            set(excluded or ()),
            doc or pyfunc.__doc__,
        )
        self.__name__ = getattr(pyfunc, "__name__", "vectorized")
        self._kernels: dict[Any, Any] = {}

    def _kernel(self, dtypes: tuple[Any, ...]) -> tuple[Any, Any]:
        """The kernel for operands of these dtypes, and the dtype of the result, which typing tells."""
        if dtypes not in self._kernels:
            names = [f"x{k}" for k in range(len(dtypes))]
            source = _SOURCE.format(
                params=", ".join(names), given=", ".join(f"{name}[i]" for name in names)
            )
            space = {"__name__": __name__, "cuda": cuda, "function": self.pyfunc}
            self._kernels[dtypes] = kernel_of(source, space, self.__name__), self._result(dtypes)
        found: tuple[Any, Any] = self._kernels[dtypes]
        return found

    def _result(self, dtypes: tuple[Any, ...]) -> Any:
        """The dtype of what the function gives for NumPy's ones; what typing says where it takes none of those, or
        gives an integer for ones and may give a float for others."""
        ones = [t.type(1) for t in dtypes]
        try:
            found = numpy.asarray(self.pyfunc(*ones)).dtype
        except TypeError:
            raise
        except Exception:  # noqa: BLE001  it uses what only kernels have
            found = None
        if found is not None and found.kind in "fc":
            return found
        kinds = tuple(map(cuda.from_dtype, dtypes))
        typed = as_dtype(cuda.compile_ptx(self.pyfunc, kinds, device=True, abi_info={"abi_name": "f"})[1])
        return typed if found is None or typed.kind == "f" else found

    def __call__(self, *args: Any) -> Any:
        """The function of elements."""
        refuse_all(args)
        arrays = [
            placed(lambda x=x: tn.asarray(x._as(Base) if isinstance(x, Base) else x)) for x in args
        ]
        arrays = list(tn.broadcast_arrays(*arrays))
        shape, n = arrays[0].shape, arrays[0].size
        kernel, kind = self._kernel(tuple(a.dtype for a in arrays))
        made = tn.empty(shape, kind, device=arrays[0].device)
        if n:
            flat = [tn.ascontiguousarray(a).reshape(-1) for a in arrays]
            launch(kernel, -(-n // THREADS), THREADS, (n, *flat, made.reshape(-1)))
        return give(made)


_SOURCE = """def kernel(n, {params}, out):
    i = cuda.grid(1)
    if i < n:
        out[i] = function({given})
"""
