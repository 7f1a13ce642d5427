# SPDX-License-Identifier: Apache-2.0
"""Statements that random ones once found to differ from NumPy's: values, dtypes, classes of exceptions that programs
can name, and how many warnings of a category must be NumPy's. `m` is the module."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

STATEMENTS = """
(a := m.zeros(2, 'f2'), m.copyto(a, np.float64(1e20), where=m.array([False, False])), a)
(a := m.zeros(2, 'f4'), m.copyto(a, m.array(1e200), where=m.array([True, False])), a)
(a := m.zeros(1, 'f4'), m.copyto(a, m.array(1e200), where=m.array([False])), a)
m.tensordot(m.array([[0.0]]), m.array([1, np.inf, -0.0]), 0)
m.tensordot(m.array([2]), m.array([[3, 4]]), 0)
m.tensordot(m.array([True]), m.array([[True, False]]), (0, 0))
m.absolute(m.ones(3), out=m.zeros(3).imag, where=m.array([1.0]))
m.add(m.ones(3), 'x', out=m.zeros(3).imag)
(a := m.array(3.0), m.copyto(a, a, where=m.array([True, False])), a)
m.fft.ihfft(m.arange(17, dtype='f2'))
m.fft.fft(m.arange(7, dtype='f2'), norm='ortho')
m.copyto(m.zeros(3), m.zeros(2), where=m.array([]))
(a := m.ones((3, 1)), m.copyto(a, a, where=m.array([[True, False, True]])), a)
m.sum(m.arange(3), where=[1, 0, 1])
m.max(m.arange(3.0), where=[1, 0, 0], initial=-1)
m.ma.getdata(m.ma.array(m.arange(6, dtype='f2').reshape(2, 3), mask=[[1, 0, 0], [0, 0, 1]]).mean(axis=0))
m.ma.array(m.arange(6, dtype='f2'), mask=[1, 0, 0, 0, 0, 1]).mean()
(a := m.zeros(2, 'u1,c8'), a['f1'].__setitem__(..., m.ones(2)), a['f1'])
m.minimum.reduce(m.array([1, 2], 'i1'), initial=np.int64(300))
m.max(m.array([1, 2], 'u1'), initial=np.int8(-1))
m.gcd.reduce(m.array([1, 2], 'i4'), initial=np.int64(2**40))
m.add.reduce(m.array([1.0, 2]), initial=[3])
m.add.reduce(m.array([1.0, 2]), initial=m.array([3, 4]))
m.var(m.array([[1, 2.0], [3, 4]]), axis=0, where=m.array([True, False]))
m.std(m.array([1, 2.0]), where=m.array([True, False]), ddof=[1, 5])
m.ldexp(m.array([1.0, 2], 'f4'), 300, out=m.zeros(2, 'f4'), where=False)
m.divmod(m.array([0, 1]), 0, out=(m.zeros(2, int), m.zeros(2, int)), where=m.array([False, True]))
m.divmod(m.array([0, 1]), 0, out=(m.zeros(2, int), m.zeros(2, int)), where=False)
m.subtract.reduce(m.ones((2, 3)), axis=(0, 1), dtype='f4')
m.equal.reduce(m.ones((2, 3)), axis=None)
(a := m.array([1, 2, np.nan]), m.minimum.at(a, [0, 1], m.array([np.nan, 1])), a)
(a := m.array([1, 2, np.nan], 'f4'), m.maximum.at(a, [2] * 100, m.array([1], 'f4')), a)
(a := m.array([1, 2, np.nan]), m.maximum.at(a, 0, np.nan), a)
(a := m.array([1, 2, np.nan], 'f4'), m.maximum.at(a, [0], m.array([np.nan])), a)
(a := m.array([[1, 2, np.nan]]), m.maximum.at(a, [0], 1.0), a)
(a := m.array([1, 2, np.nan]), m.fmax.at(a, [0, 2], np.nan), a)
(a := m.array([1, 2, np.nan]), m.maximum.at(a, m.array([0, 2]), 1), a)
m.sum(m.zeros((0, 2)), initial=None)
m.prod(m.ones(2), initial=None, where=m.array([True, False]))
m.add.reduce(m.array([1j, 2]), dtype='f4', initial=None)
m.sum(m.array([], 'm8[M]'))
m.add.reduce(m.ones(2), axis=7, where=m.array([1.0]))
m.add.reduce(m.ones(2), where='x')
m.add(m.ones(2), 1, out=m.zeros(2), where=np.array(['x', '']))
m.subtract.reduce(m.ones((2, 0)), axis=None, where=m.array([]))
m.hypot.reduce(m.array([-4.0]), initial=-2.0, where=m.array([False]))
m.hypot.reduce(m.array([[-4.0, 3], [1, 2]]), axis=1, initial=-2.0, where=m.array([[False, False], [True, False]]))
m.gcd.reduce(m.array([4]), initial=-2, where=m.array([False]))
m.multiply.reduce(m.array(1, 'c8'), axis=None, initial=np.inf, where=False)
m.multiply.reduce(m.zeros(0, 'c8'), initial=np.inf)
m.minimum.reduce(m.array([1j, 2]), dtype='i2', initial=2)
m.maximum.reduce(m.zeros((3, 0)), axis=-1, initial=np.int8(-7), dtype='i1')
m.add.reduce(m.zeros((3, 0)), axis=-1, initial=np.int8(-7), dtype='i1')
m.logical_or.reduce(m.zeros((3, 0)), axis=-1, initial=True)
m.add.accumulate(m.ones((2, 3)), axis=(0,))
m.hypot.accumulate(m.ones((2, 3)), axis=(1,))
m.add.accumulate(m.ones((2, 3)), axis=(0, 1))
m.add.accumulate(m.ones((2, 3)), axis=(5,))
m.add.reduceat(m.ones((2, 3)), [0], axis=(1,))
m.lcm(m.ones(3, 'i1'), 1, casting='safe', dtype='i2')
m.gcd(m.ones(3, 'i1'), 300, dtype='u1')
m.gcd(2**40, m.array([True, False]), casting='no')
m.floor_divide(m.ones((2, 3), 'i2'), 2**40, out=m.ones(5, 'u2'))
m.maximum(m.ones(3, 'i2'), 2, out=m.ones(3, 'u2'))
[repr(m.nextafter(m.array([0.0, -0.0, 1], f), m.array([-0.0, 0.0, 1], f))) for f in ('f2', 'f4', 'f8')]
m.einsum('ij,jk', m.ones((3, 0)), m.array([[1, np.inf]]))
m.einsum('ij, jk', m.ones((3, 0)), m.array([[1, np.inf]]))
m.einsum('ij,jk->k', m.ones((0, 3)), m.ones((3, 2)))
m.cross(m.array(3), m.ones((2, 3)))
m.tensordot(m.ones((2, 3)), m.ones((2, 3)), 5)
m.tensordot(m.ones((2, 3)), m.ones((2, 3)), ([0, 1], [1]))
m.tensordot(m.ones((2, 3)), m.ones((3, 2)), (-1, 0))
m.linalg.norm(m.array([6e4, np.nan, 1], 'f2'))
m.concatenate([m.array([1, 2], 'u8'), -2], None)
m.concatenate([300, m.array([1, 2], 'i1')], None)
m.union1d(m.array([1, 2], 'u8'), 2)
m.insert(m.array([-5.0]), -1, m.array([[1 + 1j]]), axis=0)
(a := m.array([-2.0]), a.__setitem__(m.array([False]), m.array([1 - 2j])), a)
(a := m.zeros((2, 3), 'u1'), a.__setitem__((slice(5, 0), m.array([0])), m.array([-np.inf])), a)
m.ones((4, 4), '?,i8').__setitem__(([8, -9, -3], slice(9, None)), m.ones(4, '?,i8'))
(a := m.zeros((2, 2), '?'), a.flat.__setitem__(0, m.array([255], 'u1')), a)
(a := m.zeros((2, 2)), a.flat.__setitem__(0, m.array([255], 'u1')), a)
repr(m.array([3, 4], 'm8[D]') // m.array([1, 2], 'm8[D]'))
(m.array([3], 'm8[D]')[0] // np.timedelta64(2, 'D')).dtype.char
m.ma.array(m.array(0.5 + 1j, 'c8'), mask=False).var().dtype
m.ma.getmaskarray(m.ma.array(m.array([[np.inf, 1], [2, 3]]), mask=[[0, 0], [0, 1]]).var(axis=1))
m.tile(m.zeros((2, 0)).imag, (1, 2, 2)).flags.writeable
m.exp(m.array([complex(1, np.nan), complex(np.nan, 0), complex(np.nan, 1), complex(np.inf, np.nan)]))
m.tan(m.array([complex(np.inf, np.nan)], 'c8'))
m.array([complex(np.inf, 1), complex(np.nan, 0)]) / m.array([0j, 0j])
m.array([complex(np.nan, 1), 1]) / m.array([0j, 1])
m.less_equal(m.array([1, 2j]), np.nan, out=m.zeros(2, 'f4'))
m.tanh(m.array([complex(np.nan, np.inf)]))
m.expm1(m.array([complex(np.nan, np.inf)]))
m.arctan(m.array([1j]))
m.array([complex(np.inf, np.nan)]) ** np.uint64(5)
m.array([complex(np.nan, 1)]) ** 5
m.array([-5 + 1j, 5], 'c8') ** m.array([64, 1], 'f4')
m.ones((3, 4), 'i2', order='F').imag.flags.f_contiguous
(a := m.broadcast_to(m.ones(1), 4)[1:], setattr(a, 'real', a), a)
m.copyto(m.zeros(3, 'i4'), m.array([1j, 2, 3]), where=False, casting='unsafe')
m.copyto(m.zeros(3, 'i4'), m.array(1j), where=False, casting='unsafe')
m.copyto(m.zeros(3, 'i4'), m.array([1j, 2, 3]), where=m.array([False] * 3), casting='unsafe')
m.cumsum(m.array([complex(-np.inf, -np.inf), complex(np.nan, np.inf)]))
m.sum(m.array([complex(-np.inf, 1), complex(np.inf, np.nan)]))
m.prod(m.array([complex(np.nan, 1), complex(np.inf, 2)]))
(a := m.zeros(2), m.minimum.at(a, np.s_[1:], m.array([np.nan])), a)
(a := m.zeros(3), m.minimum.at(a, np.s_[1:], m.array([np.nan])), a)
(a := m.zeros(1), m.maximum.at(a, ..., np.nan), a)
m.unique(m.array([complex(np.inf, np.nan), 2, complex(-np.inf, np.nan), complex(np.nan, 1)]))
m.intersect1d(m.array([2.0**64, 3], 'f4'), m.array([2**64 - 5, 2**64 - 1, 3], 'u8'))
m.intersect1d(m.array([3, 2.0**64]), m.array([2**64 - 5, 3], 'u8'), return_indices=True)
m.ldexp(m.ones(3, 'u1'), 2**40, casting='no')
m.divmod(m.array([1.0, 3], 'f4'), m.array([1e-45, 2], 'f4'))
m.cumprod(m.array([np.inf, np.inf, 2])[::-1], dtype='c8')
m.nancumprod(m.array([np.inf, np.inf], 'f2'), dtype='c16')
m.floor_divide(m.array([1.0]), m.array([1e-320]))
m.floor_divide(m.array([1.0] * 30), m.array([1e-320] * 30))
m.floor_divide(m.array([6e4], 'f2'), np.float16(1e-3))
m.divmod(m.array([6e4, 1], 'f2'), np.float16(1e-3))
m.floor_divide(m.array([6e4] * 100000, 'f2'), np.float16(1e-3))
m.zeros((0, 4))[m.zeros((0, 1), int), m.array([9])]
m.zeros((0, 4))[:, [9]]
m.zeros((4, 4)).__setitem__((m.zeros((0, 1), int), m.array([9])), 1)
m.take_along_axis(m.zeros((0, 4)), m.array([[9, 1]]), -1)
m.put_along_axis(m.zeros((0, 4)), m.array([[9, 1]]), 1, 1)
m.nanvar(m.array([np.inf, 1, np.nan], 'c16'))
m.subtract(m.array([np.inf, 1], 'c8'), complex(np.inf, np.nan), where=m.array([True, False]), out=m.zeros(2, 'c8'))
m.maximum.reduce(m.array([[np.inf, 1], [2, 3]]), dtype='i4')
m.minimum.reduce(m.array([1, 2, 1e300]), dtype='f4')
m.minimum.reduce(m.array([[1, 2, 1e300]]), dtype='f4')
m.fmax.reduce(m.array([1e300, 2]), dtype='f4')
m.fmax.reduce(m.array([1, np.nan]), dtype='i4')
m.subtract.reduce(m.array([np.nan, 2]), dtype='i4')
m.minimum(m.zeros((0, 3), 'u1'), -1, out=m.zeros((3, 0)))
m.add(m.zeros(3, 'i1'), 300, out=m.zeros(2, 'i1'))
m.less(m.zeros(3, 'i1'), 300, out=m.zeros(2, '?'))
m.gcd(m.zeros(3), 2.5, out=m.zeros(3).imag)
m.lcm(m.zeros(3, 'i4'), m.zeros(2, 'i4'), out=m.zeros(5, 'u1'))
m.lcm(m.zeros(3, 'i4'), 300, dtype='i1')
m.ldexp(m.zeros(3, 'f4'), m.zeros(2, 'i4'), out=m.zeros(5, 'u1'))
m.ldexp(m.array([1.0, 2], 'f2'), m.array([1, 2], 'i1'), casting='equiv')
m.clip(m.zeros(3, 'u1'), m.zeros(2), 5.5, dtype='u1')
m.clip(m.zeros(3), m.zeros(2), 2.5, out=m.zeros(2, 'u1'))
m.clip(m.zeros(3), 1, 5.5, out=m.zeros(3, 'u1').imag)
m.gcd.reduce(m.ones((2, 3)), where=m.ones((4, 3), bool))
m.searchsorted(m.array([0.1, 0.2], 'f4'), 0.1, side='right')
m.searchsorted(m.array([16777216, 16777218], 'f4'), 16777217)
m.array([0.1, 0.2], 'f4').searchsorted(0.1, side='right')
m.searchsorted(m.array([1, 2, 300], 'f2'), 2**40)
m.searchsorted(m.array([0.1, 0.2], 'c8'), 0.1, side='right')
m.dot(m.array([-0.0, -1, np.inf]), 0)
m.dot(m.array([-0.0, -1, np.inf], 'f4'), m.array(2, 'f4'))
m.inner(m.array([[1, np.inf]], 'c8'), 0)
m.dot(m.array([-0.0, 1], 'f2'), m.array(0, 'f2'))
m.linalg.norm(m.array([[1, np.inf], [2, 3]], 'c16'))
m.round(m.array([1e308, 2]), -400)
m.round(m.array([1e308, 2]), 400)
(a := m.array([1j, 2]), setattr(a, 'imag', 1j), a)
(a := m.array([1.0, 2]), a.flat[1.5], a.flat[True], a.flat[False])
m.arange(3.0).flat[np.nan]
m.arange(3.0).flat[1j]
m.arange(3.0).flat[np.True_]
m.arange(3.0).flat[np.array(True)]
m.arange(3.0).flat[np.array(1.5)]
m.arange(3.0).flat.__setitem__(1.5, [7, 8])
m.arange(3.0).flat.__setitem__(True, [7, 8])
(a := m.arange(3.0), a.flat.__setitem__(True, 7), a)
m.reciprocal(m.array([1, -3j, 0, 2 - 5j, complex(np.inf, 1), complex(np.nan, 1)], 'c16'))
m.clip(m.arange(3, dtype='f4'), 1j, 2)
m.zeros((4, 1000)).__setitem__(m.array([200], 'u1'), 1)
m.zeros((4, 5000)).__setitem__(m.array([-100], 'i1'), 1)
m.zeros(3, 'i1').__setitem__([True, False], 300)
m.zeros(3, 'i1').__setitem__([[1.0]], 300)
m.zeros(3, 'i1').__setitem__(([0, 1], [0, 1, 2]), 'a')
m.zeros((2, 4), 'i1').__setitem__(([0, 1], [0, 1, 2]), 300)
m.zeros(3).__setitem__([0, 1], m.array([1j, 2, 3]))
m.zeros(3, 'i1').flat.__setitem__([True, False], 300)
m.zeros(3, 'i1').flat.__setitem__(None, 'a')
m.zeros(3, 'i1').flat.__setitem__('a', 'a')
m.zeros(3, 'i1').flat.__setitem__((0, 0), 1j)
m.zeros(3, 'i1').flat.__setitem__(m.array(1), 300)
m.zeros(3, 'f4').flat.__setitem__(None, m.array(1j))
m.add.at(m.zeros(3), ..., m.array([1j, 2]))
m.add.at(m.ones(3), slice(0, 0), m.array([1j, 1j]))
m.add.at(m.ones(3), slice(0, 2), m.array([1j, 1j]))
m.copyto(m.broadcast_to(m.zeros(1, 'f4'), 3), 1j, casting='equiv')
m.copyto(m.broadcast_to(m.zeros(1, 'f4'), 3), 1j, casting='unsafe')
m.copyto(m.broadcast_to(m.zeros(1, 'i4'), 3), 1, casting='equiv')
m.copyto(m.broadcast_to(m.zeros(1, 'i4'), 3), np.float64(1), casting='no')
m.clip(m.arange(3, dtype='F'), 1j, 2.0)
m.clip(m.arange(3.0), m.arange(4.0), 2.0, out=m.zeros(3, int))
m.clip(m.arange(3.0), 1j, 2, out=m.zeros(3))
m.nanmax(m.array([1, 2.5, np.nan], object))
m.nanmin(m.array([], object))
m.zeros(4).__setitem__(m.arange(4.0) > 1, m.array(1j))
m.zeros(4).__setitem__(m.arange(4.0) > 9, m.array(1j))
m.zeros(4).__setitem__(m.arange(4.0) > 9, m.array([1j, 2j]))
m.reciprocal(m.array([1, -3j, 0, 2 - 5j, complex(np.inf, 1), complex(np.nan, 1)], 'c8'))
m.asfortranarray(3)
m.median(m.zeros((0, 3)), axis=1)
m.median(m.zeros((3, 0)), axis=1)
m.median(m.array(3.0), keepdims=True)
m.minimum.reduceat(m.zeros(0, 'u1'), [], dtype='?')
m.logical_or.reduceat(m.zeros(0), [], axis=0)
m.var(m.array([1.5, 2, 3.7]), dtype='i4')
m.std(m.array([[1.5, 2, 3.7]]), dtype='i2', axis=0)
m.std(m.array([1.5, 2, 3.7]), dtype='i2')
m.var(m.array([[1.5, 2, 3.7]]), dtype='i2', axis=1, ddof=1, keepdims=True)
m.var(m.array([[1.5, 2 + 3j, 3.7]]), dtype='u1', axis=1)
m.var(m.array([[1, 2, 250]], 'u1'), dtype='u1', axis=1)
m.var(m.array([1, 2, 3]), dtype='c16')
m.tensordot(m.ones(3), m.ones(3), 1)
m.inner(m.ones(3), m.ones(3))
m.cumsum(m.array([1.5, 0, 2]), dtype='?')
m.cumprod(m.array([1.5, 0, 2]), dtype='?')
m.cumulative_sum(m.array([1.5, 0, 2]), dtype='?', include_initial=True)
m.cumsum(m.array([1j, 2]), dtype='f8')
m.nancumsum(m.array([1j, 2]), dtype='i4')
m.add.accumulate(m.ones((2, 2)), axis=None)
m.add.accumulate(m.array(3), axis=0)
m.subtract.accumulate(m.array([True, True]), out=m.zeros(2, 'i8'))
m.hypot.reduceat(m.array(3), [0])
m.logical_or.reduce(m.ones(3), dtype='u4')
m.logical_and.accumulate(m.ones(3), dtype='f8')
m.logical_or.reduce(m.ones(3), dtype=bool)
m.hypot.reduce(m.ones(3), dtype='u8')
m.add.reduce(m.ones(3), dtype='u8')
m.all(m.ones((2, 1)), axis=0, where=[True, False])
m.sum(m.ones((2, 3)), where=[True, False, True])
m.max(m.zeros(0), initial=1, where=[True, False])
m.apply_over_axes(m.sum, m.ones((2, 3)), [0, -1])
m.apply_over_axes(m.sum, m.ones(2), [0, -1])
m.matvec(m.ones(3), m.ones(3))
m.vecmat(m.ones(3), m.ones(3))
m.clip(m.array([True]), None, None)
m.round(m.array([True]), 2)
m.round(m.array([True]), 0)
m.nanmean(m.ones(3), dtype='i4')
m.mean(m.ones((0, 3)), axis=0)
m.mean(m.ones((2, 3)), axis=0, where=[True, False, True])
m.nanmean(m.array([[np.nan, 1], [np.nan, 2]]), axis=0)
m.average(m.ones((0, 3)), axis=1)
m.zeros(3).__setitem__([0], m.array([1j]))
m.zeros(3, '?').__setitem__([0], m.array([1j]))
m.zeros(3).__setitem__(m.array([True, False, True]), m.array([1j, 2]))
m.zeros(3).put([0], m.array([1j]))
m.zeros(3).put([], m.array([1j]))
m.zeros(3).flat.__setitem__([0], m.array([1j]))
m.zeros(2).__setitem__([True, False], m.ones((1, 2)))
m.zeros(2).__setitem__([True, False], m.ones(2))
m.zeros((2, 2)).__setitem__([True, False], m.ones((1, 2)))
m.zeros(2, 'i1').__setitem__([5], 2 ** 40)
m.correlate(m.array([1, np.inf, 2]), m.array([1, np.inf]), 'full')
m.convolve(m.array([1, np.inf, 2, 1]), m.array([1, np.inf]), 'same')
m.convolve(m.array([1, 3, 2, 1]), m.array([1, -np.inf, 3]), 'full')
m.convolve(m.array([1, np.inf, 2, 1]), m.array([1, np.inf, 3]), 'valid')
m.array([], 'i4') ** m.array([-1])
m.array([], 'i4') ** -1
m.array([1], 'i4') ** -1
m.asarray(m.arange(6)[::2], order='A', copy=False)
m.full_like(m.zeros(2, 'u8'), 1j)
m.linspace(m.zeros(2, 'f4'), 3, 4)
m.linspace(m.zeros(2, 'f2'), 3, 4, retstep=True)
m.linspace(0, 5, 1, retstep=True)
m.linspace([0, 1], [3, 4], 5, axis=1)
m.bincount(m.zeros(0, 'i4'), weights=m.ones(3))
m.choose([0, 1, 0, 1], [m.array([-7], 'i1'), 2 ** 40])
m.unravel_index(m.array(3, 'u1'), (3, 4), 'F')
m.bitwise_count(m.array([True, False]))
m.modf(m.array([1], 'u1'), casting='no')
m.modf(m.array([1.0]), casting='no')
m.divmod(m.array([1], 'u1'), m.array([2.0]), casting='equiv')
m.gcd(m.array([1], 'u1'), 3, casting='no')
m.ndarray((0, 2), order='K')
m.spacing(m.array([-128, 128, -3, 0, -0.0, -65504, np.inf, -np.inf, np.nan, 6e-8], 'f2'))
m.apply_over_axes(m.sum, m.array(3), 0)
shares(m, lambda a: m.nanmax(a, axis=()))
shares(m, lambda a: m.nanmax(a, axis=0))
shares(m, lambda a: m.fmax.reduce(a, axis=0))
shares(m, lambda a: m.bitwise_or.reduce(a.astype(int), axis=0))
shares(m, lambda a: m.roll(a, 1, 0))
shares(m, lambda a: m.roll(a, (1, -1), (0, 0)))
shares(m, lambda a: m.ravel(a))
m.spacing(m.array([-0.0, 0.0, -1]))
m.kron(m.array(3), m.array(3))
m.array([True]) ** 2
m.zeros(5).__setitem__([], m.zeros((3, 0)))
m.zeros(5).__setitem__([], m.zeros(3))
m.char.multiply(m.array(['a', 'b']), 2)
m.char.multiply(m.array(['a', 'b']), m.array([1.5]))
m.strings.multiply(m.array(['a', 'b']), m.array([1, -2]))
np.asarray(m.arange(3)).dtype.char, np.asarray(m.zeros(1, 'u8')).dtype.char
memoryview(m.arange(3)).format
m.ma.masked_array(m.array(['a', 'b'], object))[0]
m.array([1, 2], 'u2').clip(2.5, np.float32(1.5))
m.clip(m.array([1, 2], 'f2'), 0.1, np.float64(1.5))
m.clip(m.array([1, 2], 'i1'), 0, np.int16(300))
m.clip(m.array(['2020-01-01', '2021-01-01'], 'M8[D]'), np.datetime64('2020-05-01'), np.datetime64('2020-06-01'))
m.logical_xor.accumulate(m.array([0, 1, 2]), out=m.zeros(3, int))
part(m, 3j)
part(m, -2 ** 63)
m.packbits(m.array(5), axis=-1)
m.packbits(m.array(5), axis=1)
m.choose([[1], [0], [2]], [m.zeros((3, 0)), m.zeros(0)])
m.choose([[1], [0], [2]], [m.zeros((3, 1)), m.zeros(1)])
m.put(m.arange(3).imag, [], m.ones(2))
m.put(m.arange(3).imag, [1], 2)
m.place(m.arange(3).imag, m.arange(3) > 0, [1, 2])
m.place(m.arange(3).imag, m.arange(3) > 9, [])
m.putmask(m.arange(3).imag, m.arange(3) > 9, 2j)
m.fill_diagonal(m.zeros((2, 2)).imag, 1)
m.fill_diagonal(m.zeros((2, 2)).imag, m.zeros(0))
m.spacing(m.array([65504, -65504], 'f2'))
m.spacing(m.array([np.nan, 1], 'f2'))
m.spacing(m.array([np.inf, np.nan, 3.4028235e38, -2], 'f4'))
m.less(m.array([complex(np.nan, 1), 2 + 1j, 0]), 1)
m.greater_equal(m.array([complex(2, np.nan), 1]), 2)
m.greater_equal(m.array([complex(2, np.nan), 1]), 3)
m.greater.outer(m.array([complex(np.nan, 1)], 'c8'), 1)
m.less_equal(m.array([complex(np.nan, 1)] * 9000), 1)
m.logaddexp(m.array([1.0, np.nan]), 3)
m.logaddexp2(m.array([1.0, 2], 'f4'), np.nan)
m.logaddexp(m.array([1.0, np.inf, -np.inf]), np.inf)
m.reciprocal(m.array([0, 1, 2], 'i8'))
m.reciprocal(m.array([0, 1, 2], 'i4'))
m.reciprocal(m.array([0, 1, 2], 'i2'))
m.reciprocal(m.array([0, 1, 2], 'u8'))
m.array([1 + 1j, 0, np.inf]) ** np.nan
m.array([3 + 4j, 0.5]) ** np.inf
m.array([3 + 4j]) ** -np.inf
m.array([6e4 + 0j]) ** 300
m.array([complex(np.inf, 0)]) ** 300
m.array([5, 3]) ** -2**63
m.array([5, 3], 'i1') ** -2**63
m.sign(m.array([complex(np.inf, np.inf), complex(np.nan, 1), 3]))
m.add(m.array([complex(np.nan, np.inf)]), m.array([complex(1, -np.inf)]))
m.multiply(m.array([complex(np.inf, np.nan)]), m.array([2 + 0j]))
m.divide(m.array([complex(np.nan, np.inf)]), 2)
m.divide(m.array([1j]), m.array([complex(np.nan, 0)]))
m.sqrt(m.array([-1.0]), out=m.zeros(1, 'i4'), casting='unsafe')
m.sqrt(m.array([np.inf]), out=m.zeros(1, 'i4'), casting='unsafe')
m.sqrt(m.array([1j]), out=m.zeros(1, 'f4'), casting='unsafe')
m.add(m.array([1e300]), 1, dtype='f4')
m.add(m.array([1e300]), 1, dtype='i4', casting='unsafe')
m.add(m.array([1j]), 1, dtype='i4', casting='unsafe')
m.maximum(m.zeros(3, complex), -2**63, dtype='u8')
m.clip(m.zeros(3), -1, None, dtype='u1')
m.bitwise_count(m.array([0, 1]), where=m.array([True, True]))
m.add(m.array([0, 1]), 1, None, where=m.array([True, True]))
m.add(m.array([0, 1]), 1, out=None, where=m.array([True, True]))
m.modf(m.array([0, 1.5]), where=m.array([True, True]))
m.ldexp(2, m.array([1, 2], 'i1'))
m.ldexp(m.array([1, 2], 'i1'), 2)
m.ldexp(2.5, m.array([1, 2], 'i1'))
m.add.accumulate(m.array([1, np.nan, 3]), dtype='i4')
m.cumprod(m.array([1, 1e30 + 2j]), dtype='i8')
m.add.reduce(m.array([1, np.nan, 3]), dtype='i4')
m.maximum.reduce(m.array([1, np.nan]), dtype='i4')
m.subtract.reduce(m.array([1, 1j]), dtype='i4')
m.subtract.accumulate(m.array([1, 1j]), dtype='i4')
m.bitwise_or.reduce(m.array([1, 1j]), dtype='i4')
m.hypot.reduce(m.array([[3, 4.0]]), axis=(1, 0), keepdims=True)
m.mean(m.zeros((2, 0)), axis=1, dtype='u1')
m.mean(m.array([np.nan, 1]), dtype='i8')
m.var(m.array([6e4 + 1j, 3]), dtype='f8')
m.var(m.array([6e4 + 1j, 3]), dtype='i8')
m.var(m.array([6e4, 3.5, np.nan]), dtype='i8')
m.var(m.array([6e4, 3]), dtype='c16')
m.nanvar(m.array([6e4, 3]), dtype='c16')
m.nanstd(m.array([6e4, 3, np.nan]), dtype='i4')
m.std(m.array([[1j, np.inf]]), axis=-1)
m.corrcoef(m.zeros(0))
m.corrcoef(m.zeros(0, 'c16'))
m.corrcoef(m.array([1, np.inf]))
m.dot(m.array(1e200), m.array([0, 1e200]))
m.inner(m.array([1.65, -np.inf]), m.array([1 + 0j, 6]))
m.matmul(m.array([np.inf, np.nan]), m.array([0.0, 1]))
m.copyto(m.zeros((3, 4), 'u2'), m.zeros((2, 3, 4), 'i1'))
m.copyto(m.zeros(2, 'i8').imag, m.zeros(3))
after(m.arange(3), lambda a: m.copyto(a.imag, a.imag))
after(m.arange(3), lambda a: m.copyto(a, 1, casting='no'))
m.take(m.zeros((0, 0)), [0, 1], axis=0)
m.take(m.zeros((0, 0)), [0, 1], axis=0, mode='clip')
m.take(m.zeros((0, 2)), [0, 1], axis=0, mode='clip')
m.unpackbits(m.array(3, 'u1'), axis=-1)
m.unpackbits(m.array(3, 'u1'), axis=1)
m.fft.fft(['a'])
m.fft.ifft(['1'])
m.fft.rfft([[1], ['2']])
m.fft.irfft(np.array([b'1', b'2']))
m.fft.fftn([['a', 'b']])
m.fft.fft(['a'], 0)
m.cumsum(m.array([1, 2], 'm8[s]'), dtype='m8[s]')
m.cumsum(m.array([[1, 2], [3, 4]], 'm8[s]'), 0, 'm8[ms]')
m.array([1, 2], 'm8[s]').cumsum(dtype='m8[ms]')
m.cumsum(m.array([1.5, 2]), dtype='m8[s]')
m.cumsum(m.array([1, 2], 'u1'), dtype='m8')
m.cumsum(m.array([1, 2], 'u1'), dtype='M8[s]')
m.cumsum(m.array([1, 2], 'M8[s]'), dtype='m8[s]')
m.cumprod(m.array([1, 2], 'u1'), dtype='m8')
m.cumprod(m.array([1, 2], 'm8[s]'), dtype='m8[ms]')
m.cumulative_sum(m.array([1, 2], 'm8[s]'), dtype='m8[s]')
m.add.accumulate(m.array([1, 2]), dtype='m8[s]')
m.multiply.accumulate(m.array([1, 2]), dtype='m8')
m.multiply.accumulate(m.array([1, 2]), dtype='m8[s]')
m.maximum.accumulate(m.array([1, 2]), dtype='m8')
m.add.accumulate(m.ones(3), dtype='>f8')
m.hypot.reduce(m.ones(3), dtype='>f8')
m.hypot.accumulate(m.ones(3), dtype='>f8')
m.put_along_axis(m.zeros((2, 2)), m.array([[0, 1], [1, 0]]), 5, None)
after(m.zeros((2, 2)), lambda a: m.put_along_axis(a, m.array([0, 3]), m.array([[1, 2]]), None))
m.put_along_axis(m.zeros((2, 2)), m.array([0.0, 3]), m.array([1, 2]), None)
m.put_along_axis(m.zeros((2, 2)), m.array([0, 4]), 1, None)
m.take_along_axis(m.zeros((2, 2)), m.array([[0, 1], [1, 0]]), None)
m.take_along_axis(m.arange(4).reshape(2, 2).T, m.array([0, 1]), None)
m.take_along_axis(m.arange(4).reshape(2, 2), m.array([0, 7]), None)
after(m.array([3, 1, 2]), lambda a: m.median(a, overwrite_input=True))
after(m.array([[3, 1, 2], [9, 2, 5], [0, 3, 1]]), lambda a: m.median(a, overwrite_input=True))
after(m.array([[3, 1, 2], [9, 2, 5], [0, 3, 1]]), lambda a: m.median(a, 0, overwrite_input=True))
after(m.array([[3, 1, 2], [9, 2, 5], [0, 3, 1]]), lambda a: m.median(a, (0, 1), overwrite_input=True))
after(m.array([[3, 1, 2], [9, 2, 5]]), lambda a: m.median(a.T, 1, overwrite_input=True))
after(m.array([3, 1, np.nan, 5, 2]), lambda a: m.median(a, overwrite_input=True))
m.median(m.arange(3).imag, overwrite_input=True)
m.array([m.array(-4), 3], dtype='u4')
m.array([m.array(4j), 3], dtype='f4')
m.percentile(m.zeros(0, 'i4').imag, 50)
m.zeros(0, 'i4').imag.flatten().flags.writeable
after(m.arange(3, dtype='u8'), lambda a: m.multiply.at(a, [0, 1], m.array([np.inf])))
after(m.arange(3.0), lambda a: m.add.at(a, [0, 1], m.array([1j])))
after(m.array([2**63 - 1, 5]), lambda a: m.maximum.at(a, ..., m.array([2.5])))
after(m.array([5, 2**63 - 1]), lambda a: m.maximum.at(a, ..., m.array([2.5])))
after(m.array([5, 7]), lambda a: m.maximum.at(a, ..., m.array([np.nan])))
after(m.arange(3.0), lambda a: m.add.at(a, [], m.array([1j])))
after(m.arange(3.0), lambda a: m.add.at(a, [0, 7], m.array([1j])))
m.minimum.at(m.arange(3).imag, 7, 1)
after(m.arange(3), lambda a: a.flat.__setitem__(slice(0, 0), m.array([1j, np.nan])))
after(m.arange(3), lambda a: a.flat.__setitem__([], m.array([1.5, np.nan])))
after(m.arange(3), lambda a: a.flat.__setitem__(0, m.array(1j)))
after(m.arange(3), lambda a: a.flat.__setitem__(0, 1j))
after(m.arange(3), lambda a: a.flat.__setitem__(0, [1.5, 2]))
after(m.arange(3), lambda a: a.flat.__setitem__([7], 'a'))
m.arange(3).imag.flat.__setitem__(7, 1)
after(m.arange(2.0), lambda a: m.put(a, [-1, 0], m.array([1j, np.nan])))
m.put(m.zeros(0, 'i4'), [0], np.nan)
after(m.arange(12.0).reshape(3, 4), lambda a: m.fill_diagonal(a, a, False))
after(m.arange(12.0).reshape(4, 3), lambda a: m.fill_diagonal(a[::-1], a, True))
m.expm1(m.array([np.inf + 0j, 710, complex(np.inf, 1), -np.inf]))
m.array([2 + 0j]) ** -2**63
m.array([60 + 80j]) ** m.array([200 + 300j])
m.array([0.0, 2]) ** -np.inf
m.array([complex(np.inf, 0), 2]) ** -np.inf
m.absolute(m.array([1j]), dtype='f8')
m.absolute(m.array([1j]), dtype='c16')
m.absolute(m.array([1j]), dtype='f4')
m.greater(np.int8(-7), m.array([1], 'u8'), casting='no')
m.greater(m.array([1], 'i8'), m.array([1], 'u8'), casting='no')
m.subtract.at(m.ones(2, bool), ..., m.ones(3, bool))
m.ldexp(m.zeros(0, 'f4'), 2**40)
m.array([m.array(np.nan), 3], dtype='u4') * 0
m.compress([True, False, True], m.zeros((0, 0)), axis=1)
m.take(m.zeros((0, 3)), [7], axis=1)
m.zeros((1, 2)).__setitem__(np.s_[1:, [5]], m.zeros((2, 1, 3)))
m.zeros((1, 2)).__setitem__(np.s_[[5]], m.zeros((3, 2)))
m.zeros((1, 2)).__setitem__(np.s_[[5]], m.zeros((1, 2)))
m.cross(m.array([-np.inf, 1, 2]), m.array([1.0, 0]))
m.cross(m.array([1.0, 0]), m.array([-np.inf, 1, 2]))
m.cross(m.ones((2, 3), bool), m.array([1, 2]))
m.cross(m.array([True, False]), m.array([1, 2, 3]))
m.linalg.norm(m.array([[complex(-np.inf, np.nan), 1], [3, 4j]]), axis=-1)
m.linalg.norm(m.array([[complex(-np.inf, 0), 1], [3, 4j]]), axis=-1)
(a := m.zeros(3, int), a.__setitem__(0, m.ma.masked))
(a := m.zeros((), 'f4'), a.__setitem__((), m.ma.masked), a)
(a := m.zeros((2, 2)), a.__setitem__((0, 1), m.ma.array(2, mask=True)), a)
(a := m.zeros(3, 'u1'), a.__setitem__(0, m.ma.array(2.5)), a)
m.isin(m.array([0, 1], 'i2'), m.array([-128, 0, 127], 'i1'), kind='table')
m.isin(m.array([0, 1], 'i1'), m.array([-128, 0, 127], 'i2'), kind='table')
m.lexsort((m.array(1),), axis=0)
m.lexsort((m.array(1),), axis=1)
m.einsum('', 0, dtype='nothing')
m.zeros(2**63)
m.zeros(-2**63 - 1)
m.arange(3).reshape(2**63)
m.array([-np.inf], 'f2').astype('i8', casting='same_value')
m.array([type('T', (), {'__array__': lambda self, dtype=None, copy=None: m.arange(3)})()] * 2)
(a := m.arange(6).reshape(2, 3), a.resize((3, 2), refcheck=False), a)
(a := m.arange(6)[:4], a.resize((2, 2)), a)
(a := m.arange(6)[::2], a.resize((3, 1)))
(a := m.asfortranarray(m.arange(6).reshape(2, 3)), a.resize((3, 2), refcheck=False), a)
(a := m.asfortranarray(m.arange(6).reshape(2, 3)).copy(order='F'), a.resize((2, 4), refcheck=False), a)
(a := m.arange(6)[:4], a.resize((2, 3), refcheck=False))
(a := m.arange(6)[:0], a.resize((2, 0)), a)
(a := m.arange(6), a.resize((2, -3)))
(a := m.arange(6), a.resize((-2, -3)))
(a := m.arange(6), a.resize((2, 5), refcheck=False), a)
(a := m.arange(6), a.resize(4, refcheck=False), a)
(a := m.arange(6), a.resize(6, 1), a)
m.floor_divide(m.array([[-2**63, 5], [3, 1]])[::-1], m.array([-2**63, 2]), dtype='i1', casting='unsafe')
m.floor_divide(m.array([128, 3], 'i2'), m.array([-1, 0], 'i2'), dtype='i1', casting='unsafe')
m.floor_divide(m.array([5, 3], 'i2'), 256, dtype='i1', casting='unsafe')
m.remainder(m.array([128, 3], 'i2'), m.array([255, 512], 'u2'), dtype='i1', casting='unsafe')
m.array([6e4, 5e4, 7], 'f2') // np.int8(-7)
m.divmod(m.array([6e4, 5e4, 7], 'f2'), m.array([-7, 3.3, 0.3], 'f2'))
m.array([6e4, 1], 'f2') // m.array([6e-8, 2], 'f2')
m.array([np.inf, 1, 1, -0.0], 'f2') // m.array([6e-8, 0, -np.inf, 2], 'f2')
m.multiply.reduce(m.array([-5 - 1j, 6 + 2j, -1 - 2j, 3 - 2j, 3 + 1j, np.inf], 'c8'))
m.prod(m.array([complex(np.inf, 3)]))
m.prod(m.array([[1, 2 + 1j, 2 + 1j], [-3j, complex(1, -np.inf), complex(1, -np.inf)]], order='F'))
m.prod(m.array([[3 + 1j, np.inf, 2], [1, complex(2, np.inf), 1]]), axis=1)
m.clip(m.array([2147483647, -3, 1], 'i4'), 2.5, 2.5, dtype='f2')
m.clip(m.array([[2147483647, -3, 1]], 'i4'), 2.5, 2.5, dtype='f2')
m.clip(m.array([2147483647, -3], 'i4'), m.array([[2.5], [1]]), 2.5, dtype='f2')
m.clip(m.array([[1, -3, 1e300]]), 2.5, 1e300, dtype='f8', out=m.zeros((1, 3), 'f4'))
m.clip(m.array([[1, -3, 1e300]]).T, 2.5, 1e30, dtype='f4')
m.clip(m.array([1, -3, 1e300]), 2.5, 1e300, dtype='f8', out=m.zeros(3, 'f4'))
m.cross(m.array([2**64 - 1, 2**64 - 7], 'u8'), m.array([2**64 - 10, 2**64 - 1], 'u8'))
m.cross(m.array([2**64 - 1, 3], 'u8'), m.array([2**64 - 10, 2**64 - 1, 7], 'u8'))
m.cross(m.array([2**64 - 1, 3, 5], 'u8'), m.array([[2**64 - 10, 2**64 - 1], [3, 4]], 'u8'))
m.cross(m.array([[1, 2, 3], [4, 5, 6]]), m.array([[[1, 0, 2]], [[3, 1, 1]]]), axisc=0)
m.ldexp(m.ones(3, complex), -2**63)
m.ldexp(m.ones((3, 0), complex), -2**63, out=m.ones((3, 0), complex), where=m.ones((3, 0)) <= 2)
m.nanpercentile(m.array([[np.nan], [-4], [3]], 'f4'), [0, 25, 100], axis=-1)
m.nanpercentile(m.array([[-4], [np.nan], [3]], 'f4'), [0, 25, 100], axis=-1)
m.apply_along_axis(lambda x: m.array([x[0]], 'f4' if x[0] > 1 else 'f8'), 1, m.array([[2.5], [0.1]]))
m.random.default_rng(69).permutation(m.zeros(0, 'i4'))
m.random.default_rng(69).permutation(m.broadcast_to(m.zeros(0, 'i4'), 0))
m.putmask(m.array(3, 'i1'), True, -2**63)
m.putmask(m.array(3.0), True, 1j)
m.round(m.ones(3, 'c8')*1.26, 1, out=m.zeros(3))
m.round(m.ones(3, 'c8')*1.26, 1, out=m.zeros(3, 'c16'))
m.round(m.array([1.26, 2.35], 'f4'), 1, out=m.zeros(2))
m.round(m.array([15, 25, -15]), -1, out=m.zeros(3))
m.round(m.array([15, 25, -15]), -1, out=m.zeros(3, int))
m.round(m.array([15, 25, -15]), 1, out=m.zeros(2, int))
m.take(m.zeros((0, 3)), [0, 1], axis=0, out=m.zeros((1, 3)))
m.choose([0, 1], [m.ones((2, 2)), 5], out=m.zeros(3))
m.choose([0, 7], [m.ones((2, 2)), 5], out=m.zeros(3))
m.broadcast_to(m.ones((3, 1)), (2, 3, 1)).strides
m.argmax(m.ones(3), out=m.zeros(()))
m.argmax(m.ones((3, 2)), axis=0, out=m.zeros(2, bool))
m.argmax(m.ones((3, 2)), axis=0, out=m.zeros(3))
m.argmin(m.ones((3, 2)), axis=0, out=m.zeros(2, 'u8'))
m.bitwise_count.at(m.ones(3), m.array([False]*3))
m.right_shift.at(m.ones(3), m.array([False]*3), 1)
m.right_shift.at(m.ones(3, int), m.array([False]*3), float('nan'))
m.copysign.reduceat(m.ones(3), [9], dtype='u4')
m.greater(m.ones(3), m.ones(2), signature=(None, None, 'f8'))
m.greater(m.ones(3), m.ones(3), signature=(None, None, '?'))
(a := m.arange(5.), setattr(a, 'flat', a[::-1]), a)
(a := m.arange(16).reshape(4, 4).T, setattr(a, 'flat', a[::-1]), a)
(a := m.arange(5.), setattr(a, 'flat', a[1:3]), a)
m.maximum.accumulate(m.ones((2, 2))*1j, axis=0, out=m.zeros((2, 2)))
m.add.accumulate(m.ones((2, 2))*1j, axis=0, out=m.zeros((2, 2)))
m.add.reduceat(m.ones((2, 2))*1j, [0], axis=0, out=m.zeros((1, 2)))
m.matmul(m.ones((2, 3)), m.ones((2, 3)), out=m.zeros((3, 4), int))
m.matmul(m.ones((2, 3), 'i4'), m.ones((2, 3)), casting='no')
m.matmul(m.ones((2, 2)), m.ones((2, 2)), out=m.zeros((3, 3), int))
m.matmul(m.ones((2, 2)), m.array(1j), out=m.zeros((3, 3)))
m.matmul(m.ones((2, 2)), m.ones((2, 2)), out=m.broadcast_to(m.zeros((), 'i4'), (2, 2)))
m.choose([0, 1, 0], [m.ones(3), 1j], out=m.zeros(3), mode='clip')
m.round(m.ones(3), 1, out=2)
m.right_shift.at(m.ones(3), np.s_[3:], np.int8(-7))
[(a := m.ones(3, t), m.ldexp.at(a, ..., n), a) for t in ('f2', 'f4', 'f8') for n in (300, -1, True, 2**40)]
m.gcd.at(m.ones(3, 'u8'), ..., 300)
m.right_shift.at(m.ones(0, 'u8'), ..., -1)
[m.linalg.vector_norm(m.array(2.0), axis=0, ord=k) for k in (0, 1, 2, 3, np.inf)]
m.linalg.vector_norm(m.ones((2, 3)), axis=-1)
m.take(m.zeros((0, 3)), [0, 1], axis=0, out=m.zeros((2, 3), bool))
m.bitwise_or.accumulate(m.ones(3), out=m.broadcast_to(m.ones(1), (3,)))
m.dot(m.ones(3, int), m.array(2), out=m.zeros(3, 'u2'))
m.dot(m.ones(3, int), m.array(2), out=m.zeros(3))
m.dot(m.ones(3), m.array(2.), out=m.zeros(3, 'f4'))
m.nanquantile(m.ones((2, 3)), .5, axis=(0, 1), keepdims=True)
m.nanmedian(m.ones((2, 3)), keepdims=True)
m.quantile(m.ones((2, 3)), .5, keepdims=True)
m.logical_or.accumulate(m.ones((2, 2))*1j, axis=0, out=m.zeros((2, 2)))
m.add.accumulate(m.ones((2, 2))*1j, axis=0, out=m.zeros((2, 2)), dtype='f8')
m.multiply.accumulate(m.ones((2, 2))*1j, axis=0, out=m.zeros((2, 2)), dtype='c8')
m.subtract.accumulate(m.ones((2, 2))*1j, axis=0, out=m.zeros((2, 2)))
m.add.reduceat(m.ones((2, 2), 'c8'), [0, 1], axis=0, out=m.zeros((2, 2), 'i4'))
m.ones(3, 'c8').astype('>u2')
m.ones((2, 3), 'c8').T.astype('>f4', order='F')
m.einsum('ij->', m.ones((2, 3), 'i1'), out=m.zeros((2, 3), 'u8'))
part(m, m.ma.var(m.ma.array(m.array([[3, 6e4], [1, 2]], 'f2'), mask=m.array([[0, 0], [0, 1]], bool)), axis=1))
m.ma.innerproduct(m.ma.array([1.0, 2]), m.ma.array([3.0, 4], mask=[1, 0]))
m.ma.inner(m.ma.array(3.0), [[4.0], [5.0]])
m.ma.clip(m.array(3.0), 0, 1)
part(m, m.ma.clip(m.ma.array(3.0, mask=True), 0, 1))
part(m, m.clip(m.ma.array(3.0), 0, 1))
m.ma.array(3.0, mask=True).clip(0, 1) is m.ma.masked
m.ma.clip([3.0, 4], 0, 1, fill_value=7, hardmask=True).fill_value
m.ma.clip([3.0, 4], 0, 1, fill_value=7, hardmask=True).hardmask
m.ma.array([3.0, 4], mask=[0, 0]).clip(0, 1).mask
m.ma.array(3.4).round()
m.ma.array(3.4, mask=True).round() is m.ma.masked
m.ma.array([3.4, 1], mask=[1, 0]).round(out=m.ma.zeros(2)).mask
m.bitwise_xor(m.array([1, 2], 'i4'), -0.0, signature='ii->i')
m.add(2.5, m.array([1, 2], 'i4'), signature='ii->i', casting='no')
m.add(m.array([1, 2], 'i4'), 2.5, signature='ii->i', casting='equiv')
m.add(m.array([1, 2], 'i4'), np.float64(2), signature='ii->i')
m.add(m.array([1, 2], 'i4'), float('nan'), signature='ii->i')
m.less(m.array([1, 2], 'i4'), 2**40, signature='ii->?')
m.negative(2.5, signature='i->i')
m.logical_xor(m.array([1, 2j]), 1, signature=('f4', 'f4', None))
m.logical_xor(m.array([1e-60, 0]), 1, signature=('f4', 'f4', None))
m.logical_and(m.ones((2, 3), 'c16'), m.ones(4), signature=('f4', 'f4', None))
m.logical_and(m.array([1j]), m.array([0]), signature='??->?')
m.logical_not(m.array([1j]), signature='?->?')
m.add(m.ones((2, 3)).T, m.ones((3, 2)), order='A').strides
m.add(m.ones((2, 3)).T, m.ones((3, 2), order='F'), order='A').strides
m.add(m.ones((2, 3))[:, ::-1], 1, order='a').strides
m.add(m.ones((2, 3)).T, 1, order=None).strides
m.lcm(m.ones((2, 3), int), 2, order='F').strides
m.lcm(m.ones((2, 3), int).T, 2, order='A').strides
[x.strides for x in m.divmod(m.ones((2, 3)), 2, order='F')]
m.vander(m.array([-np.inf + 0j, 2]), 2)
m.vander(m.array([1, 2, 3], 'u8'), 4, True)
m.vander(m.array([1.0, 2]), 1)
m.argpartition(m.array(1, 'u1'), 0, axis=0)
m.argpartition(m.array(1, 'u1'), 1, axis=0)
m.array(7.5).argpartition(0, axis=0)
(a := m.arange(3), a.setflags(write=False), pickle.loads(pickle.dumps(a, 5)).flags.writeable)
(a := m.arange(3), a.setflags(write=False), pickle.loads(pickle.dumps(a, 4)).flags.writeable)
(a := m.arange(6)[::2], a.setflags(write=False), pickle.loads(pickle.dumps(a, 5)).flags.writeable)
pickle.loads(pickle.dumps(m.ones(3), 5)).flags.writeable
m.dot(m.array(2, 'f2'), m.array(3, 'f2'), out=m.array(0, 'f2'))
m.array(2.0).dot(m.array(3.0), out=m.array(0.0))
m.dot(m.ones(3), m.ones(3), out=m.array(0.0))
m.min(m.ones((2, 3), 'c8'), axis=1, out=m.zeros(2))
m.max(m.ones((2, 3), 'c8'), axis=1, out=m.zeros(2), initial=1, where=m.ones((2, 3), bool))
m.add.reduce(m.ones((2, 3), 'c8'), axis=1, out=(m.zeros(2),))
m.add.reduce(m.ones((2, 3), 'c8'), axis=1, dtype='c16', out=m.zeros(2, 'i4'))
m.add.reduce(m.ones((2, 3), 'c8'), axis=1, dtype='f4', out=m.zeros(2, 'i4'))
m.add.reduce(m.ones((2, 3), 'c8'), axis=1, out=m.zeros(2, bool))
m.subtract.reduce(m.ones((2, 3), 'c8'), axis=1, out=m.zeros(2))
m.mean(m.ones((2, 3), 'c8'), axis=1, out=m.zeros(2))
m.minimum.reduce(m.array(np.nan), axis=None, dtype='i8')
m.add.reduce(m.array(np.nan), axis=None, dtype='u1')
m.bitwise_or.reduce(m.array(np.nan), axis=None, dtype='i8')
m.fmax.reduce(m.array(np.nan), axis=None, dtype='i8')
m.round(m.array([[1, 2, 3]]), 0, out=m.zeros(3, int))
m.round(m.array([[1, 2, 3]]), 0, out=m.zeros((3, 1), int))
m.round(m.array([[1, 2, 3]]), 0, out=m.zeros(3, 'u1'))
np.float64(0) / m.ma.masked is m.ma.masked
m.ma.getdata(np.float64(1) / m.ma.array([0.0, 1], mask=[1, 0]))
m.ma.average(m.ma.array(m.zeros(0), mask=m.zeros(0, bool)), weights=m.zeros(0)) is m.ma.masked
m.ldexp.reduceat(m.ones(3, 'i2'), [0])
m.ldexp.reduceat(m.ones(3, 'i2'), [7])
m.ldexp.accumulate(m.ones((0, 3), bool))
[x.dtype.str for x in m.meshgrid(m.array([1, 2], '>i4'), m.array(['a', 'b']), [1, 2])]
m.unique_values(m.array([2, 1, 1], '>i4')).dtype.str
[x.dtype.str for x in m.unique_all(m.array([2, 1, 1], '>f8'))]
m.setdiff1d(m.array([2, 1, 1], '>i4'), [1]).dtype.str
m.union1d(m.array([2, 1, 1], '>i4'), [1]).dtype.str
"""


def part(m: Any, value: Any) -> Any:
    a = m.zeros(2, "u4")
    a.real = value
    return a


def after(a: Any, change: Any) -> Any:
    """The array that has been changed."""
    change(a)
    return a


def written_before_an_error(m: Any) -> Any:
    a = m.zeros(3)
    with pytest.raises(IndexError):
        m.put(a, [1, 5, 2], [7, 8, 9])
    return a


def shares(m: Any, function: Any) -> bool:
    a = m.ones((1, 4))
    return bool(m.shares_memory(a, function(a)))


def outcome(text: str, m: Any) -> tuple[Any, list[str]]:
    """What a statement gives, an exception too, and the categories of its warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            made = eval(text, {"m": m, "np": np, "part": part, "shares": shares, "after": after, "pickle": pickle})
            for x in made if isinstance(made, tuple) else (made,):
                np.asarray(x)  # what waits tells of its faults
        except Exception as error:  # noqa: BLE001  its class is compared
            made = error
    return made, sorted(w.category.__name__ for w in seen)


def public(kind: type) -> type:
    return next(base for base in kind.__mro__ if base.__module__ in ("builtins", "numpy.exceptions"))


@pytest.fixture(params=[False, True], ids=["ours", "lent"])
def _lends(request):
    before = _core.numeric_lends(request.param)
    yield
    _core.numeric_lends(before)


@pytest.mark.usefixtures("_lends")
@pytest.mark.parametrize("text", STATEMENTS.strip().splitlines())
def test_found_statements_are_numpys(text):
    (wanted, theirs), (found, ours) = outcome(text, np), outcome(text, tn)
    if isinstance(wanted, Exception):
        assert isinstance(found, public(type(wanted))), (wanted, found)
        assert [each for each in ours if each == "ComplexWarning"] == [x for x in theirs if x == "ComplexWarning"]
        return
    assert ours == theirs, (ours, theirs)
    together = (wanted, found) if isinstance(wanted, tuple) else ((wanted,), (found,))
    for x, y in zip(*together, strict=True):
        assert isinstance(x, np.ndarray) == isinstance(y, tn.ndarray), (x, y)
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape), (x, y)
        np.testing.assert_array_almost_equal_nulp(x, y, 4) if x.dtype.kind in "fc" and np.isfinite(x).all() else (
            np.testing.assert_array_equal(x, y))  # fmt: skip
        if x.dtype.kind in "fc":
            signs = [(np.signbit(z.real) | np.isnan(z.real), np.signbit(z.imag) | np.isnan(z.imag)) for z in (x, y)]
            np.testing.assert_array_equal(*signs)


def test_numbers_of_derived_arrays_are_asked_of_their_class():
    class Other(tn.ndarray):
        def __float__(self):
            raise TypeError("none")

    with pytest.raises(TypeError):
        tn.array([tn.array(1.0).view(Other)])


@pytest.mark.parametrize("kinds", [("i1", "i2"), ("i8", "i8"), ("u2", "f8")])
@pytest.mark.parametrize("name", ["remainder", "floor_divide", "fmod"])
def test_divisors_that_become_0_are_told_of_each_time(name, kinds):
    for divisor in (512, 0.5, 3):
        for _ in range(3):
            said = []
            for m in (np, tn):
                x, y = m.array([7, 4], kinds[0]), m.array([divisor, 2]).astype(kinds[1])
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    made = np.asarray(getattr(m, name)(x, y, dtype="i1", casting="unsafe"))
                said.append((made.tolist(), [str(each.message) for each in seen]))
            assert said[0] == said[1]


@pytest.mark.usefixtures("_lends")
def test_values_in_the_same_memory_are_not_put_before_an_error():
    for m in (np, tn):
        a = m.arange(5) + 7
        with pytest.raises(IndexError):
            m.put(a[:1], [-1, 0, 2], a)
        assert a.tolist() == [7, 8, 9, 10, 11]
        a = m.arange(5)
        with pytest.raises(IndexError):
            m.put(a[1:], a, 7)
        assert a.tolist() == [0, 1, 2, 3, 4]


def test_values_before_a_place_out_of_bounds_are_put():
    np.testing.assert_array_equal(np.asarray(written_before_an_error(tn)), written_before_an_error(np))


# What NumPy calls the function that a fault is told of.
TOLD = {
    "fast": lambda m: m.divide.at(m.ones(3), [0], 0.0),
    "slow": lambda m: m.divide.at(m.ones(3), slice(0, 2), m.zeros(2)),
    "rows": lambda m: m.divide.at(m.ones((3, 3)), [0, 1], m.zeros(3)),
    "other dtype": lambda m: m.multiply.at(m.ones(3, "f4"), [0], 1e300),
    "one operand": lambda m: m.sqrt.at(-m.ones(3), [0]),
    "reduce": lambda m: m.add.reduce(m.array([np.nan, 1]), dtype="i4"),
    "accumulate": lambda m: m.add.accumulate(m.array([np.nan, 1]), dtype="i4"),
    "mean": lambda m: m.mean(m.full((2, 2), np.nan), axis=0, dtype="i4"),
    **{f"{name}.{method}": lambda m, name=name, method=method: getattr(getattr(m, name), method)(m.array([1, np.nan]))
       for name in ("logaddexp", "logaddexp2") for method in ("accumulate", "reduce")},
    "logaddexp.reduceat": lambda m: m.logaddexp.reduceat(m.array([1, np.nan], "f4"), [0]),
    "logaddexp.at": lambda m: m.logaddexp.at(m.array([1, np.nan]), [1], 1.0),
    "dot of a number": lambda m: m.dot(m.array(1e300), m.array([1e300, 1])),
}


@pytest.mark.parametrize("case", TOLD)
def test_faults_are_told_of_by_numpys_names(case):
    said = []
    for m in (np, tn):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            TOLD[case](m)
        said.append([str(each.message) for each in seen])
    assert said[0] == said[1]
    assert said[0]


@pytest.mark.parametrize("method", ["accumulate", "reduce"])
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_sums_of_powers_of_infinities_tell_of_nothing(name, method):
    x = [-np.inf, -np.inf, -1e30, 1, 5, 1e30, np.inf, np.inf, -np.inf, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for m in (np, tn):
            for dtype in ("f4", "f8"):
                getattr(getattr(m, name), method)(m.array(x, dtype))


ODD = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_powers_of_infinite_and_nan_parts_are_cs(dtype):
    z = np.array([complex(re, im) for re in ODD for im in ODD], dtype)
    x, y = z[:, None], z[None]
    with np.errstate(all="ignore"):
        wanted, got = x**y, np.asarray(tn.array(x) ** tn.array(y))
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(got, part), getattr(wanted, part), 1e-4 if dtype == "c8" else 1e-12, 1e-20)


def test_powers_of_complex_numbers_tell_of_what_cs_tell():
    z = [complex(re, im) for re in ODD for im in ODD]
    for i, x in enumerate(z):
        for y in z[i % 7 :: 7]:
            said = []
            for m in (np, tn):
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    np.asarray(m.power(m.array([x]), m.array([y])))
                said.append([str(each.message) for each in seen])
            assert said[0] == said[1], (x, y)
