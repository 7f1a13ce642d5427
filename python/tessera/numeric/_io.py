# SPDX-License-Identifier: Apache-2.0
"""Files of arrays: NumPy's formats and readers, whose arrays become ours without a copy."""

from __future__ import annotations

import functools
import mmap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy

from ._functions import asnumpy
from ._host import changed, give, take
from ._ndarray import is_derived, ndarray
from ._numpys import adopt, home
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

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_theirs":
            raise AttributeError(name)
        return getattr(self._theirs, name)  # zip, fid, allow_pickle

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
        return _mapped(made)
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


def _watched(self: Any) -> Any:
    """A map that was copied to a GPU keeps what was read, to know what is written to it."""
    if self.device != "cpu" and self.mode in ("r+", "w+"):
        self._before = asnumpy(self)
    return self


def _written(self: Any) -> None:
    """What waits is computed; the elements of a map on a GPU that were written to go to the file."""
    if self.device == "cpu":
        numpy.asarray(self)
    elif self.mode in ("r+", "w+"):
        order = "C" if self.flags.c_contiguous else "F"
        at = self.offset % mmap.ALLOCATIONGRANULARITY
        file, now = numpy.ndarray(self.shape, self.dtype, self._mmap, at, order=order), asnumpy(self)
        where = changed(now, self._before)
        file[where] = now[where]
        self._before = now


def _flush(self: Any) -> None:
    """Writes what was changed to the file."""
    owner = self
    while isinstance(ndarray.base.__get__(owner), adopt(_MAPS)["memmap"]):
        owner = ndarray.base.__get__(owner)
    if self._mmap is not None:
        _written(owner)
        self._mmap.flush()


def _end(self: Any) -> None:
    """What the last of its arrays leaves is in the file, unless the map was closed."""
    if getattr(self, "_before", None) is not None and not self._mmap.closed:
        _written(self)


def _base(self: Any) -> Any:
    """The map of the file; for a view of a memmap, the array that it is a view of."""
    found = ndarray.base.__get__(self)
    return self._mmap if isinstance(found, numpy.ndarray) else found


def _mend(names: dict[str, Any]) -> None:
    kind, make = names["memmap"], names["memmap"].__new__

    @functools.wraps(make)
    def new(subtype: Any, *args: Any, **options: Any) -> Any:
        return _watched(make(subtype, *args, **options))

    kind.__new__, kind.flush, kind.base, kind.__del__ = new, _flush, property(_base), _end


_MAPS = "numpy._core.memmap"
home({"__name__": "tessera.numeric"}, _MAPS, _mend)


def _mapped(theirs: Any) -> Any:
    """NumPy's array in the memory of a file as one of ours."""
    made = of_numpy(theirs)._as(adopt(_MAPS)["memmap"], None)
    for name in ("_mmap", "filename", "offset", "mode"):
        setattr(made, name, getattr(theirs, name))
    made.flags.writeable &= theirs.flags.writeable
    return _watched(made)


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
