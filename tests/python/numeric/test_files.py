# SPDX-License-Identifier: Apache-2.0
"""Files of arrays: written by one library and read by the other."""

from __future__ import annotations

import io

import numpy as np
import pytest
import tessera.numeric as tn

X = np.arange(12, dtype="f4").reshape(3, 4)


def same(found, wanted):
    assert isinstance(found, tn.ndarray) and found.dtype == wanted.dtype
    np.testing.assert_array_equal(np.asarray(found), wanted)


def test_npy_and_npz(tmp_path):
    for x in (X, X.T, X[::2], X + 1j, X > 3, np.float64(2.5) + np.zeros(())):
        tn.save(tmp_path / "a.npy", tn.array(x))
        same(tn.load(tmp_path / "a.npy"), x)
        np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), x)
    for write in (tn.savez, tn.savez_compressed):
        write(tmp_path / "b.npz", tn.array(X), named=tn.arange(3))
        with tn.load(tmp_path / "b.npz") as found:
            assert sorted(found) == ["arr_0", "named"] and len(found) == 2
            same(found["arr_0"], X)
            same(found["named"], np.arange(3))
    buffer = io.BytesIO()
    tn.save(buffer, tn.array(X) * 2)
    buffer.seek(0)
    same(tn.load(buffer), X * 2)


def test_text_and_bytes(tmp_path):
    tn.savetxt(tmp_path / "a.txt", tn.array(X))
    same(tn.loadtxt(tmp_path / "a.txt"), np.loadtxt(tmp_path / "a.txt"))
    same(tn.genfromtxt(tmp_path / "a.txt"), np.genfromtxt(tmp_path / "a.txt"))
    tn.array(X).tofile(tmp_path / "a.bin")
    same(tn.fromfile(tmp_path / "a.bin", "f4"), X.ravel())
    same(tn.fromiter(range(5), int), np.arange(5))
    same(tn.fromstring("1 2 3", sep=" "), np.array([1.0, 2, 3]))
    tn.array(X).dump(tmp_path / "a.pkl")
    same(tn.load(tmp_path / "a.pkl", allow_pickle=True), X)


def mapped(m, path):
    a = m.memmap(path, "f4", "w+", 1, (3, 4))
    a[:] = m.arange(12).reshape(3, 4)
    a += 1
    a.flush()
    m.save(path.with_suffix(".npy"), m.arange(5))
    loaded = m.load(path.with_suffix(".npy"), mmap_mode="r+")
    loaded[0] = 9
    loaded.flush()
    kinds = [type(x).__name__ for x in (a, a + 1, a.sum(), a[1:], a[[0, 1]], a[0, 0], m.exp(a), loaded)]
    return kinds, a.offset, a.mode, a.filename.name, a[1:].filename.name, loaded.mode, np.fromfile(path, "u1").tolist()


def test_maps_of_files_are_numpys(tmp_path):
    assert mapped(tn, tmp_path / "map") == mapped(np, tmp_path / "map")
    assert np.load(tmp_path / "map.npy").tolist() == [9, 1, 2, 3, 4]


def test_archives_show_their_file(tmp_path):
    tn.savez(tmp_path / "a.npz", tn.arange(3))
    with tn.load(tmp_path / "a.npz") as archive:
        assert archive.zip.namelist() == ["arr_0.npy"] and not archive.fid.closed
        with pytest.raises(AttributeError):
            archive.nothing  # noqa: B018


def test_blocks_of_an_array():
    x = np.arange(24).reshape(2, 3, 4)
    blocks = [*tn.lib.Arrayterator(tn.array(x), 5)]
    assert [b.tolist() for b in blocks] == [b.tolist() for b in np.lib.Arrayterator(x, 5)]
    assert type(blocks[0]) is tn.ndarray


def test_memory_of_a_file(tmp_path):
    X.tofile(tmp_path / "a.bin")
    a = tn.memmap(tmp_path / "a.bin", "f4", "r+", shape=(3, 4))
    same(a, X)
    a[1] = 7
    a.base.flush()
    assert (np.fromfile(tmp_path / "a.bin", "f4")[4:8] == 7).all()
    tn.save(tmp_path / "b.npy", tn.array(X))
    same(tn.load(tmp_path / "b.npy", mmap_mode="r"), X)
    with pytest.raises(ValueError, match="read-only"):
        tn.load(tmp_path / "b.npy", mmap_mode="r")[0] = 1


def chain(a):
    """The classes of an array and of its bases."""
    names = []
    while a is not None:
        names.append(type(a).__name__)
        a = getattr(a, "base", None)
    return names


def test_bases_are_those_of_numpys_views(tmp_path):
    np.arange(12.0).tofile(tmp_path / "a")
    for make in (
        lambda xp: xp.memmap(tmp_path / "a", float, "r", shape=(3, 4)),
        lambda xp: xp.arange(12.0).reshape(3, 4),
        lambda xp: xp.arange(12.0).reshape(3, 4).copy(),
    ):
        for view in (
            lambda xp, a: a.view(),
            lambda xp, a: a.view().view(),
            lambda xp, a: xp.asarray(a),
            lambda xp, a: xp.asarray(a)[1:],
            lambda xp, a: a[1:].T[::2],
            lambda xp, a: xp.asarray(a).view(xp.matrix)[1:],
            lambda xp, a: a.view("i8"),
        ):
            made = [chain(view(xp, make(xp))) for xp in (np, tn)]
            assert made[0][:3] == made[1][:3]  # what memory lies under them is of each library
