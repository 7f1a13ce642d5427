# SPDX-License-Identifier: Apache-2.0
"""Mistakes as NumPy's users make them, and trouble from outside: NumPy's classes of exceptions, at the line that is
wrong, and nothing is lost: arrays that were there go on as if the call had not been."""

from __future__ import annotations

import gc
import mmap
import subprocess
import sys
import threading

import numpy
import pytest
import tessera.numeric as np
from tessera import _core

A = numpy.arange(12.0).reshape(3, 4)

CALLS = {
    "shapes of operands": lambda n, a: a + n.ones(5),
    "shape of out": lambda n, a: n.add(a, 1, out=n.zeros((3, 3))),
    "shape of a value": lambda n, a: a.__setitem__(slice(2), n.ones(7)),
    "shape of where": lambda n, a: n.add(a, 1, where=n.ones((7, 4), bool)),
    "concatenated": lambda n, a: n.concatenate([a, n.ones((3, 5))], 0),
    "product": lambda n, a: a @ a,
    "reshape": lambda n, a: a.reshape(5, -1),
    "cast of out": lambda n, a: n.add(a, 1, out=n.zeros((3, 4), int)),
    "cast in place": lambda n, a: n.ones(3, int).__iadd__(0.5),
    "cast of a choice": lambda n, a: a.astype("i4", casting="safe"),
    "complex to real": lambda n, a: n.ones(3).__iadd__(1j),
    "number too great": lambda n, a: n.ones(3, "u1") + 300,
    "negative power": lambda n, a: n.array([2, 3]) ** n.array([-1, 2]),
    "element": lambda n, a: a[3, 0],
    "element from the end": lambda n, a: a[-4],
    "places": lambda n, a: a[[0, 3]],
    "places of an array": lambda n, a: a[n.array([0, 1]), n.array([2, 4])],
    "places written": lambda n, a: a.__setitem__(([0, -5],), 1),
    "take": lambda n, a: n.take(a, [12]),
    "put": lambda n, a: n.put(a, [40], 1),
    "take_along_axis": lambda n, a: n.take_along_axis(a, n.array([[9]]), 1),
    "add.at": lambda n, a: n.add.at(a, ([7],), 1),
    "mask of another shape": lambda n, a: a[n.ones((4, 3), bool)],
    "float as a place": lambda n, a: a[1.0],
    "too many places": lambda n, a: a[0, 0, 0],
    "axis": lambda n, a: a.sum(axis=2),
    "axis of different elements": lambda n, a: n.unique(n.arange(3.0), axis=2),
    "axis of different slices": lambda n, a: n.unique(a, axis=-3),
    "format of many": lambda n, a: f"{a:.2f}",
    "numbers of axes": lambda n, a: n.concatenate([a[0], a]),
    "vectors of two lengths": lambda n, a: n.dot(a[0], a[0, 1:]),
    "axis of a sort": lambda n, a: n.sort(a, axis=-3),
    "truth": lambda n, a: bool(a),
    "float of many": lambda n, a: float(a),
    "read-only": lambda n, a: n.broadcast_to(a, (2, 3, 4)).__setitem__(0, 1),
    "greatest of none": lambda n, a: a[:0].max(),
    "singular": lambda n, a: n.linalg.inv(n.zeros((2, 2))),
    "word as a number": lambda n, a: a + "x",
    "dtype": lambda n, a: a.astype("nonsense"),
    "list without a copy": lambda n, a: n.asarray([1, 2], copy=False),
    "number without a copy": lambda n, a: n.array(1.5, copy=False),
    "place of a partition": lambda n, a: n.partition(a, 1.5),
    "places of none": lambda n, a: n.put(n.zeros(0), [0, -1], n.zeros(0)),
    "texts for one": lambda n, a: n.array([b"a", b"b"]).__setitem__(0, n.array([b"c"])),
}


@pytest.mark.parametrize(("call", "one", "other"), [
    (lambda: np.ones(5).__setitem__(slice(1, 3), [1, 2, 3]), "(3,)", "(2,)"),
    (lambda: np.ones((3, 4)).__setitem__((slice(None), 1), np.ones(5)), "(5,)", "(3,)"),
    (lambda: np.copyto(np.ones(3), np.ones((2, 4))), "(2,4)", "(3,)"),
    (lambda: np.add(np.ones(4), 1, out=np.ones((3, 3))), "(4,)", "(3,3)"),
    (lambda: np.add(np.ones(4), np.ones(2), out=np.ones(3)), "(4,) (2,)", "(3,)"),
])  # fmt: skip
def test_what_does_not_fit_is_told_with_both_shapes(call, one, other) -> None:
    with pytest.raises(ValueError, match="broadcast") as told:
        call()
    assert one.replace(" ", "") in str(told.value).replace(" ", "")
    assert other.replace(" ", "") in str(told.value).replace(" ", "")


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("what", CALLS)
def test_a_mistake_is_numpys_at_the_call(what, size) -> None:
    host = A if size == "small" else numpy.ones((3, 4, 500))[..., 0] + A
    with pytest.raises(Exception) as wanted:  # noqa: PT011  whatever NumPy raises
        CALLS[what](numpy, host.copy())
    a = np.array(host) if size == "small" else (np.ones((3, 4, 500)) + 0)[..., 0] + np.array(host) - 1
    waiting = np.ones(5000) * 3
    with pytest.raises(Exception) as found:  # noqa: PT011
        CALLS[what](np, a)
    mine = tuple(each for each in wanted.type.__mro__ if each.__module__ == "builtins")
    assert issubclass(found.type, mine[0]), (found.type, found.value)
    numpy.testing.assert_array_equal(a, host)
    assert waiting[7] == 3


def test_values_that_there_is_no_memory_for_are_told_of_where_they_are_read() -> None:
    fine = np.arange(5000.0) + 1
    big = np.ones((1 << 22, 1)) + np.ones((1, 1 << 22))
    other = np.ones(5000) * 2
    assert fine[3] == 4 and other.sum() == 10000  # others are computed
    for _ in range(30):  # more than wait at most
        other = other + 1
    assert other[0] == 32
    with pytest.raises(MemoryError, match=r"Unable to allocate 128\. TiB for an array with shape \(4194304, 4194304\)"):
        big[0, 0]
    with pytest.raises(MemoryError):
        np.wait(big)
    assert (fine * 2)[0] == 2
    del big
    np.wait()
    with pytest.raises(MemoryError):
        np.zeros((1 << 22, 1 << 22))[0, 0]
    assert fine[1] == 2


def drawn_into(a) -> None:
    np.random.default_rng(1).random(out=a)


WRITES = {
    "element": lambda a: a.__setitem__(0, 2), "part": lambda a: a.__setitem__(slice(0, 3000), 2.5),
    "some": lambda a: a.__setitem__(slice(3, 5), 2), "places": lambda a: a.__setitem__([0, 1], 5),
    "many places": lambda a: a.__setitem__([2, 1] * 2000, 5.0), "mask": lambda a: a.__setitem__(a > 0, 5),
    "at": lambda a: np.add.at(a, [0, 1], 5), "at, in order": lambda a: np.logaddexp.at(a, [0, 1, 0], 5),
    "fill": lambda a: a.fill(3), "in place": lambda a: a.__iadd__(1), "copyto": lambda a: np.copyto(a[:2000], 1),
    "in place, a part": lambda a: a[::2].__imul__(3), "put": lambda a: np.put(a, [0, 1], 5), "drawn": drawn_into,
    "sort": lambda a: a.sort(), "out": lambda a: np.cumsum(a, out=a), "wait": lambda a: np.wait(a),
}  # fmt: skip
WHOLE = ("fill", "in place", "drawn", "sort", "out", "wait")  # which give the array other memory


@pytest.mark.parametrize("lies", ["alone", "seen"])
@pytest.mark.parametrize("what", WRITES)
def test_a_write_leaves_what_cannot_be_computed_waiting(what, lies) -> None:
    big = np.zeros((1 << 22, 1 << 22))
    a, alone = np.arange(4000.0), np.arange(4000.0)
    seen = numpy.asarray(a) if lies == "seen" else None
    reads = a * 2  # computed before the write
    WRITES[what](a)
    with np.errstate(divide="raise"):
        a[1:] += 1
    if seen is not None:
        assert (seen == numpy.asarray(a)).all()
    assert reads[3999] == 7998
    with pytest.raises(MemoryError, match=r"128\. TiB"):
        big[0, 0]
    del big
    WRITES[what](alone)
    alone[1:] += 1
    numpy.testing.assert_array_equal(a, alone)


@pytest.mark.parametrize("what", [each for each in WRITES if each not in WHOLE])
def test_a_write_where_such_a_value_reads_is_its_error(what) -> None:
    a = np.arange(4000.0)
    big = np.broadcast_to(a, (1 << 32, 4000)) * 2
    other = np.ones((1 << 22, 1 << 22)) * 3  # its error is another
    with pytest.raises(MemoryError, match=r"125\. TiB"):
        WRITES[what](a)
    numpy.testing.assert_array_equal(a, numpy.arange(4000.0))
    del big
    WRITES[what](a)
    del other


def test_memory_of_others_stays_while_it_is_looked_at() -> None:
    a = np.asarray(numpy.ones(5000))  # nobody else holds it
    gc.collect()
    assert (a + 1)[4999] == 2
    raw = bytearray(40000)
    b = np.frombuffer(raw, "f8")
    with pytest.raises(BufferError):
        raw.extend(b"more")
    assert b.sum() == 0
    mapped = mmap.mmap(-1, 40000)
    c = np.frombuffer(mapped, "f8")
    with pytest.raises(BufferError):
        mapped.close()
    assert (c * 2)[100] == 0
    d = np.from_dlpack(numpy.arange(5000.0))
    gc.collect()
    assert d[4000] == 4000


def test_overlaps_are_as_if_operands_were_copied() -> None:
    host = numpy.arange(6000.0)
    for change in (
        lambda x: x.__setitem__(slice(1, None), x[:-1]), lambda x: x.__setitem__(slice(None), x[::-1]),
        lambda x: x[2:].__iadd__(x[:-2]), lambda x: x.reshape(60, 100)[:, 1:].__imul__(x.reshape(60, 100)[:, :-1]),
    ):  # fmt: skip
        a, x = np.array(host) + 0, host.copy()
        change(a), change(x)
        numpy.testing.assert_array_equal(a, x)


def test_threads_share_arrays() -> None:
    shared, wrong = np.arange(5000.0) * 2, []

    def work(k: int) -> None:
        for i in range(20):
            mine = shared * k + i
            part = mine[::2] - shared[::2] * k
            if (part != i).any() or mine[7] != 14 * k + i:
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


# Programs in processes of their own: what they say is "ok".
PROGRAMS = {
    "a child of fork computes": """
import os, warnings
import tessera.numeric as np
warnings.simplefilter("ignore")         # Python's on fork beside threads
a = np.arange(300000.0)
assert (a * 2).sum() > 0
waiting = a + 1
child = os.fork()
if not child:
    os._exit(0 if waiting[5] == 6 and (a * 3)[7] == 21 and float((a + 2).sum()) == float(a.sum()) + 600000 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert waiting[5] == 6
""",
    "Ctrl-C in a long kernel": """
import signal, time
import tessera.numeric as np
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
a = np.linspace(0.1, 1, 100000)
kept, stopped = a * 2, False
np.wait(np.sin(a) ** a)                 # compiled before
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    for _ in range(2000):
        np.wait(np.sin(a) ** a)
except KeyboardInterrupt:
    stopped = True
assert stopped and kept[0] == 0.2 and abs(float((a * 0 + 1).sum()) - 100000) < 1e-6
""",
    "a signal while the weights of a count are computed": """
import signal
import tessera.numeric as np
small, hits = np.arange(5.0), []
signal.signal(signal.SIGALRM, lambda *_: hits.append(float((small + 1).sum())))
x, ones, edges = np.arange(2000000) % 1000, np.ones(2000000), np.arange(2000000.0)
np.wait(x), np.wait(ones)
for compute in (lambda w: np.bincount(x, w), lambda w: np.searchsorted(w, edges)):
    for delay in (0.001, 0.002, 0.004, 0.008, 0.016):
        weights = ones
        for _ in range(6):
            weights = np.sin(weights) + np.exp(weights * 0.1)
        signal.setitimer(signal.ITIMER_REAL, delay)
        compute(weights)
        signal.setitimer(signal.ITIMER_REAL, 0)
assert set(hits) <= {15.0}
""",
    "a list that another thread empties while its arrays are lent": """
import sys, threading, time
import tessera.numeric as np
sys.setswitchinterval(1e-5)
x, box, end = (np.arange(100000) * 7919 % 99991) * 1.0, [[]], time.monotonic() + 2
def repeat(call):
    while time.monotonic() < end:
        call()
def fill():
    box[0] = list = [np.arange(5.0) + k for k in range(8)]
    time.sleep(0)
    list.clear()
def stack():
    try:
        np.stack(box[0])
    except (ValueError, TypeError, IndexError):
        pass                            # emptied
calls = [lambda: np.sort(x), fill, stack, stack]
threads = [threading.Thread(target=repeat, args=(call,)) for call in calls]
[thread.start() for thread in threads], [thread.join() for thread in threads]
""",
    "children of fork beside threads that wait for a sort": """
import os, signal, sys, threading, time, warnings
import tessera.numeric as np
warnings.simplefilter("ignore")
sys.setswitchinterval(1e-5)
x, a, stop = (np.arange(40000) * 7919 % 39989) * 1.0, np.arange(5.0), []
def repeat(call):
    while not stop:
        call()
calls = [lambda: np.sort(x)] + [lambda: a + 1] * 6
threads = [threading.Thread(target=repeat, args=(call,)) for call in calls]
[thread.start() for thread in threads]
bad, end = 0, time.monotonic() + 2
while time.monotonic() < end and not bad:
    child = os.fork()
    if not child:
        signal.alarm(30)
        np.sort(x)
        os._exit(0)
    bad = os.waitpid(child, 0)[1]
stop.append(1)
[thread.join() for thread in threads]
assert not bad
""",
    "a child of fork beside a thread in divmod": """
import os, threading, warnings
import numpy
import tessera.numeric as np
warnings.simplefilter("ignore")
inside, leave = threading.Event(), threading.Event()
class Slow:
    def __array__(self, dtype=None, copy=None):
        inside.set(), leave.wait()
        return numpy.ones(3)
def told():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        divmod(np.array([1.0, 0.0]), np.array([0.0, 0.0]))
    return [str(each.message) for each in seen]
raised = []
def divide():
    try:
        with np.errstate(all="raise"):
            np.array([1.0]) / np.array([0.0])
    except FloatingPointError:
        raised.append(1)
alone = told()
other = threading.Thread(target=lambda: divmod(np.ones(3), Slow()), daemon=True)
other.start(), inside.wait()
assert told() == alone
child = os.fork()
if not child:
    for _ in range(20):             # one of them lies where the thread did that is not there any more
        thread = threading.Thread(target=divide)
        thread.start(), thread.join()
    os._exit(0 if told() == alone and len(raised) == 20 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
leave.set(), other.join()
""",
    "another thread writes what is counted": """
import threading
import numpy
import tessera.numeric as np
x, mask, a = np.zeros(400000, "i8"), np.zeros(400000, bool), np.arange(400000.0)
values = np.arange(200000.0)
seen, seen_mask, stop = numpy.asarray(x), numpy.asarray(mask), []
def write():
    while not stop:
        seen[:], seen_mask[:] = 1 << 40, True
        seen[:], seen_mask[:], seen_mask[::2] = 5, False, True
        seen_mask[:] = False
thread = threading.Thread(target=write, daemon=True)
thread.start()
def put():
    a[mask] = values
calls = [lambda: np.unique(x, return_index=True, return_inverse=True, return_counts=True), lambda: np.isin(x, x),
         lambda: np.nonzero(mask), lambda: a[mask], lambda: x.astype("f4")[mask], put]
for _ in range(40):
    for call in calls:
        try:
            call()
        except (IndexError, ValueError, MemoryError):
            pass
stop.append(1), thread.join()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_trouble_from_outside(name) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAMS[name] + "print('ok')"], capture_output=True, text=True,
                          timeout=120, check=False)  # fmt: skip
    assert done.stdout == "ok\n", done.stdout + done.stderr


@pytest.mark.parametrize("call", ["numbers of axes", "vectors of two lengths"])
def test_messages_name_the_sizes(call):
    said = []
    for module in (np, numpy):
        with pytest.raises(ValueError) as found:
            CALLS[call](module, module.asarray(A))
        said.append(str(found.value))
    assert said[0] == said[1]


def test_a_text_that_is_none_is_refused_as_a_dtype() -> None:
    with pytest.raises(UnicodeEncodeError):
        _core.numeric_promote("\udc80")


@pytest.mark.parametrize("dtype", ["i4", "u1", "c8", "?", "f8", "U3", "M8[s]"])
def test_values_that_cannot_fill_raise_as_numpys(dtype):
    for value in ([1], (1,), [1, 2], [], range(2), numpy.array([1]), numpy.array([1, 2])):
        made = []
        for m in (numpy, np):
            a = m.zeros(2, dtype)
            try:
                a.fill(value)
                made.append(a.tolist())
            except Exception as error:
                made.append(type(error))
        assert made[0] == made[1], value


def test_indices_of_item_that_fit_no_word_overflow():
    for m in (numpy, np):
        for index in (2**70, -(2**63) - 1, (2**63, 0)):
            with pytest.raises(OverflowError):
                m.zeros((2, 2)).item(index)
        with pytest.raises(IndexError):
            m.zeros(2).item(-(2**63))
