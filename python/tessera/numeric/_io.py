# SPDX-License-Identifier: Apache-2.0
"""Files of arrays: NumPy's formats and readers, whose arrays become ours without a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy

from ._host import give, take
from ._ndarray import is_derived, ndarray
from ._setup import of_numpy, to_numpy

_DOCS = {
    "fromfile": "An array of the numbers in a file, binary or text.",
    "fromiter": "A vector of what an iterator gives.",
    "fromregex": "An array of what a regular expression finds in a file.",
    "fromstring": "A vector of the numbers in a text.",
    "genfromtxt": "An array of the numbers in a text file, some of which may be missing.",
    "load": "The array in a .npy file, or the arrays of an .npz file, read when they are asked for.",
    "loadtxt": "An array of the numbers in a text file.",
    "save": "Writes an array to a .npy file.",
    "savetxt": "Writes an array to a text file.",
    "savez": "Writes arrays to an .npz file, by their names or arr_0, arr_1, ..",
    "savez_compressed": "Writes arrays to an .npz file, compressed.",
}


class NpzFile(Mapping[str, Any]):
    """The arrays of an .npz file by name, read when they are asked for; ``with`` or ``close()`` closes it."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs
        self.files = theirs.files
        self.f = theirs.f

    def __getitem__(self, name: str) -> Any:
        return give(self._theirs[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def close(self) -> None:
        """Closes the file."""
        self._theirs.close()

    def __enter__(self) -> NpzFile:  # noqa: PYI034  no Self in Python 3.10
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _given(made: Any) -> Any:
    if isinstance(made, numpy.lib.npyio.NpzFile):
        return NpzFile(made)
    if isinstance(made, numpy.memmap):
        return of_numpy(made)
    return give(made)


class _Lent(numpy.ndarray[Any, Any]):
    """NumPy's array in the memory of one whose class says itself how its elements are written."""

    owner: Any = None

    def tofile(self, *args: Any, **options: Any) -> None:
        self.owner.tofile(*args, **options)

    @property
    def T(self) -> Any:
        made = super().T
        made.owner = self.owner.T
        return made


def _lend(x: Any) -> Any:
    if not is_derived(x) or type(x).tofile is ndarray.tofile:  # type: ignore[attr-defined]
        return take(x)
    made = to_numpy(x).view(_Lent)
    made.owner = x
    return made


def file_function(public: Any, doc: str) -> Callable[..., Any]:
    """A function of NumPy's that reads or writes files, of arrays of ours."""
    theirs = getattr(public, "_implementation", public)

    def function(*args: Any, **options: Any) -> Any:
        return _given(theirs(*map(_lend, args), **{name: _lend(each) for name, each in options.items()}))

    function.__name__ = function.__qualname__ = public.__name__
    function.__doc__ = doc
    function.__wrapped__ = public  # type: ignore[attr-defined]  # its signature, for who asks
    return function


FUNCTIONS = {name: file_function(getattr(numpy, name), doc) for name, doc in _DOCS.items()}


def memmap(filename: Any, dtype: Any = numpy.uint8, mode: str = "r+", offset: int = 0, shape: Any = None,
           order: str = "C") -> ndarray:  # fmt: skip
    """An array in the memory of a file; ``a.base.flush()`` writes what was changed."""
    return of_numpy(numpy.memmap(filename, dtype, mode, offset, shape, order))


def _tofile(self: ndarray, fid: Any, sep: str = "", format: str = "%s") -> None:
    """Writes the elements to a file, in row-major order."""
    to_numpy(self, True).tofile(fid, sep, format)


def _dump(self: ndarray, file: Any) -> None:
    """Pickles the array to a file."""
    import pickle

    if hasattr(file, "write"):
        pickle.dump(self, file, protocol=5)
        return
    with open(file, "wb") as opened:
        pickle.dump(self, opened, protocol=5)


def _dumps(self: ndarray) -> bytes:
    """The array, pickled."""
    import pickle

    return pickle.dumps(self, protocol=5)


METHODS = {"tofile": _tofile, "dump": _dump, "dumps": _dumps}
