# SPDX-License-Identifier: Apache-2.0
"""`vectorize`: a function of numbers on elements of arrays, in one kernel of threads."""

from __future__ import annotations

from typing import Any

import numpy

from .. import cuda
from .. import numeric as tn
from ..cuda._errors import TypingError
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
    TypeError
        ``f`` does something with operands of these dtypes that kernels do not take.
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
        """The kernel for operands of these dtypes, and the dtypes of its results."""
        if dtypes not in self._kernels:
            results = self._results(dtypes)
            names = [f"x{k}" for k in range(len(dtypes))]
            outs = [f"out{k}" for k in range(len(results))]
            source = _SOURCE.format(
                params=", ".join(names), given=", ".join(f"{name}[i]" for name in names), outs=", ".join(outs),
                made=", ".join(f"{out}[i]" for out in outs)
            )  # fmt: skip
            space = {"__name__": __name__, "cuda": cuda, "function": self.pyfunc}
            self._kernels[dtypes] = kernel_of(source, space, self.__name__), results
        found: tuple[Any, Any] = self._kernels[dtypes]
        return found

    def _results(self, dtypes: tuple[Any, ...]) -> tuple[Any, ...]:
        """The dtypes of what the function gives for NumPy's numbers; what typing says where it takes none of those, or
        gives an integer for them and may give a float for others."""
        found = self._sampled(dtypes)
        if found is not None and (len(found) > 1 or found[0].kind in "fc"):
            return found
        kinds = tuple(map(cuda.from_dtype, dtypes))
        typed = as_dtype(cuda.compile_ptx(self.pyfunc, kinds, device=True, abi_info={"abi_name": "f"})[1])
        return (typed,) if found is None or typed.kind == "f" else found

    def _sampled(self, dtypes: tuple[Any, ...]) -> Any:
        """What the function gives for ones, and for ones and a two at each place: it may choose among its operands."""
        found: Any = None
        for place in range(-1, len(dtypes) if len(dtypes) > 1 else 0):
            numbers = [t.type(2 if k == place else 1) for k, t in enumerate(dtypes)]
            try:
                made = placed(lambda numbers=numbers: self.pyfunc(*numbers))
            except TypeError:
                raise
            except Exception:  # noqa: BLE001  it uses what only kernels have
                return None
            made = made if isinstance(made, tuple) else (made,)
            given = [x.dtype if isinstance(x, Base) else numpy.asarray(x).dtype for x in made]
            found = given if found is None else list(map(numpy.promote_types, found, given))
        return tuple(found)

    def __call__(self, *args: Any) -> Any:
        """The function of elements."""
        refuse_all(args)
        arrays = [
            placed(lambda x=x: tn.asarray(x._as(Base) if isinstance(x, Base) else x)) for x in args
        ]
        arrays = list(tn.broadcast_arrays(*arrays))
        shape, n = arrays[0].shape, arrays[0].size
        try:
            kernel, kinds = self._kernel(tuple(a.dtype for a in arrays))
            made = tuple(tn.empty(shape, kind, device=arrays[0].device) for kind in kinds)
            if n:
                flat = [tn.ascontiguousarray(a).reshape(-1) for a in arrays]
                launch(kernel, -(-n // THREADS), THREADS, (n, *flat, *[x.reshape(-1) for x in made]))
        except TypingError as error:
            raise TypeError(str(error)) from error
        return give(made if len(made) > 1 else made[0])


_SOURCE = """def kernel(n, {params}, {outs}):
    i = cuda.grid(1)
    if i < n:
        {made} = function({given})
"""
