# SPDX-License-Identifier: Apache-2.0
"""Classes of others in calls, as NumPy: __array_function__, like=, __array_ufunc__, __array_wrap__, their ranks."""

import inspect
import io
import types
import warnings

import numpy as np
import pytest

import tessera.numeric as tn


@pytest.mark.parametrize("m", [np, tn])
def test_operators_of_two_functions_ask_by_their_own_name(m):
    asked = []

    class Asked:
        def __array_ufunc__(self, function, method, *inputs, **options):
            asked.append([function.__name__, method, len(inputs), sorted(options), options.get("axes")])
            return "answer"

    class Part(m.ndarray):
        def __array_ufunc__(self, function, method, *inputs, **options):
            asked.append([function.__name__, method, len(inputs), sorted(options), options.get("axes")])
            return "answer"

    for x in (Asked(), m.ones(2).view(Part)):
        assert divmod(m.ones(2), x) == "answer"
        for y in (m.ones(2), m.ones((2, 2)), m.ones((3, 2, 2))):
            y @= x
            assert y == "answer"
    given = [[name, "__call__", 2, *more] for name, *more in (
        ("divmod", [], None), ("matmul", ["axes", "out"], [(-1,), (-2, -1), (-1,)]),
        *2 * [("matmul", ["axes", "out"], [(-2, -1)] * 3)])]  # fmt: skip
    assert asked[:4] == given


class Refuses:
    __array_ufunc__ = None

    def __rdivmod__(self, other):
        return "answer"


def test_a_class_that_takes_no_part_answers_divmod_alone():
    for m in (np, tn):
        assert divmod(m.ones(2), Refuses()) == "answer"
        x = m.ones((2, 2))
        with pytest.raises(TypeError, match="does not support ufuncs"):
            x @= Refuses()


def classes(m):
    """Classes that say which call they got, by names, so that the answers of both modules compare."""

    def named(x):
        if isinstance(x, (tuple, list)):
            return [named(each) for each in x]
        if isinstance(x, dict):
            return {key: named(each) for key, each in x.items()}
        if isinstance(x, type):
            return x.__name__
        if isinstance(x, m.ndarray):
            return x.tolist()
        return getattr(x, "__name__", None) or (type(x).__name__ if hasattr(x, "__array_ufunc__") else x)

    class Whole:
        def __array_function__(self, function, kinds, args, options):
            return ["function", type(self).__name__, function.__name__, named(kinds), named(args), named(options)]

        def __array_ufunc__(self, function, method, *inputs, **options):
            return ["ufunc", type(self).__name__, function.__name__, method, named(inputs), named(options)]

    class Part(Whole):
        pass

    class Other(Whole):
        pass

    class No(Whole):
        def __array_function__(self, *args):
            return NotImplemented

        def __array_ufunc__(self, *args, **options):
            return NotImplemented

    class Out:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "radd"

        __rmatmul__ = __rpow__ = __lt__ = __gt__ = __eq__ = __radd__
        __hash__ = None

    return types.SimpleNamespace(m=m, a=m.arange(3.0), Whole=Whole, Part=Part, Other=Other, No=No, Out=Out)


def both(function):
    """What a function of the classes gives with NumPy, and with ours; an exception by its class."""
    made = []
    for m in (np, tn):
        try:
            made.append(function(classes(m)))
        except Exception as error:
            made.append(type(error))
    return made


FUNCTIONS = [
    lambda c: c.m.sum(c.Whole()), lambda c: c.m.sum(c.Whole(), axis=0), lambda c: c.m.sum(c.a, out=c.Whole()),
    lambda c: c.m.concatenate([c.a, c.Whole()]), lambda c: c.m.concatenate((c.Whole(), c.Part(), c.Other())),
    lambda c: c.m.concatenate((c.No(), c.Part())), lambda c: c.m.concatenate((c.a, c.No())),
    lambda c: c.m.where(c.Whole(), c.a, 1), lambda c: c.m.percentile(c.Whole(), 3), lambda c: c.m.block([[c.Whole()]]),
    lambda c: c.m.linalg.norm(c.Whole(), 2), lambda c: c.m.linalg.multi_dot([c.a, c.Whole()]),
    lambda c: c.m.fft.fft(c.Whole(), n=4),
    lambda c: c.m.strings.upper(c.Whole()), lambda c: c.m.polynomial.polynomial.polyval2d(c.Whole(), 1, 2),
    lambda c: c.m.einsum("i,i", c.a, c.Whole()), lambda c: c.m.copyto(c.a, c.Whole()),
    lambda c: c.m.sum(c.Whole(), nothing=1),
    lambda c: c.m.histogram2d([1, 2], [1, 2], bins=(c.Whole(), 5)),
    lambda c: c.m.reshape(c.a, (3, 1), order="C").tolist(),
    lambda c: c.m.histogram2d([1, 2], [1, 2], bins=[c.Whole()]),
    lambda c: c.m.std(c.a, where=c.Whole()), lambda c: c.m.sum(c.No()), lambda c: c.m.shape(c.Whole()),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_functions_ask_classes_as_numpys_do(number):
    wanted, made = both(FUNCTIONS[number])
    assert made == wanted


class Duck:
    """Answers every function."""

    def __array_function__(self, function, kinds, args, options):
        return "asked"


MODULES = ["", "fft", "linalg", "strings", "char", "lib.stride_tricks", "polynomial.polynomial", "lib.scimath"]
LEFT_OUT = {"save", "savez", "savez_compressed", "savetxt",  # write files
            "join", "rsplit", "split", "splitlines"}  # of char: what our programs call has other names than NumPy's


def home(m, path):
    """A module of NumPy's or ours by its path."""
    for name in path.split(".") if path else ():
        m = getattr(m, name)
    return m


def is_asked(function, args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = function(*args)
        except Exception:
            return False
    return isinstance(made, str) and made == "asked"


@pytest.mark.parametrize("path", MODULES)
def test_each_argument_counts_where_it_does_for_numpy(path):
    """Every function that asks in NumPy, with an object that answers in each place, alone and in sequences."""
    wrong, asked = [], 0
    for name in dir(home(np, path)):
        theirs, ours = getattr(home(np, path), name), getattr(home(tn, path), name, None)
        if type(theirs) is not type(np.sum) or ours is None or name in LEFT_OUT:
            continue
        most = max(2, min(6, len(inspect.signature(theirs).parameters)))
        for place in range(most):
            for answers in (Duck(), [Duck(), 1.0], (Duck(),), [[Duck()]]):
                for n in {max(place + 1, 2), most}:
                    args = [[1.0, 2.0]] * n
                    args[place] = answers
                    wanted = is_asked(theirs, args)
                    asked += wanted
                    if is_asked(ours, args) != wanted:
                        wrong.append((name, n, place, type(answers).__name__))
    assert asked and not wrong


@pytest.mark.parametrize("call", [
    lambda m, f, file: m.savetxt(file, [1.0, 2.0], footer=Duck()),
    lambda m, f, file: m.apply_along_axis(f, 0, [1, 2, 3], Duck()),
    lambda m, f, file: m.piecewise([1.0, 2.0], [[True, False]], [f, 0.0], Duck()),
    lambda m, f, file: m.fromfunction(f, (2,), dtype=float, more=Duck()),
])  # fmt: skip
def test_what_counts_is_found_without_computing(call):
    """Functions and files of a call whose answering arguments do not count are used once."""
    used = []
    for m in (np, tn):
        calls, file = [], io.StringIO()

        def function(x, *args, calls=calls, **options):
            calls.append(len(args) + len(options))
            return 1.0

        try:
            call(m, function, file)
        except TypeError:  # what a footer must be
            pass
        used.append((calls, file.getvalue()))
    assert used[0] == used[1] and used[0] != ([], "")


def test_errors_of_a_sequence_that_is_looked_into_are_the_callers():
    class Sequence(Duck):
        def __iter__(self):
            raise ZeroDivisionError

        __getitem__ = __iter__

    for m in (np, tn):
        with pytest.raises(ZeroDivisionError):
            m.concatenate(Sequence())


LIKE = [
    lambda m, like: m.ones(2, like=like), lambda m, like: m.array([1, 2], dtype="f4", like=like),
    lambda m, like: m.asarray([1], like=like), lambda m, like: m.arange(3, like=like),
    lambda m, like: m.eye(2, like=like),
    lambda m, like: m.require([1.0], requirements=["A"], like=like), lambda m, like: m.full(2, 3, like=like),
    lambda m, like: m.fromiter(range(3), int, like=like), lambda m, like: m.frombuffer(b"\0" * 8, like=like),
    lambda m, like: m.fromstring("1 2", sep=" ", like=like), lambda m, like: m.loadtxt(["1 2"], like=like),
    lambda m, like: m.fromfunction(lambda i: i, (3,), like=like), lambda m, like: m.tri(2, like=like),
    lambda m, like: m.array(1, nothing=2, like=like), lambda m, like: m.sum([1], like=like),
]  # fmt: skip
LIKES = [lambda c: None, lambda c: c.a, lambda c: c.Whole(), lambda c: c.No(), lambda c: 1, lambda c: c.Out()]


@pytest.mark.parametrize("like", range(len(LIKES)))
@pytest.mark.parametrize("number", range(len(LIKE)))
def test_like_asks_its_class(number, like):
    def call(c):
        made = LIKE[number](c.m, LIKES[like](c))
        return made.tolist() if isinstance(made, c.m.ndarray) else made

    wanted, made = both(call)
    if isinstance(made, list) and made[0] == "function":  # NumPy's functions in Python give defaults, too
        assert made[:4] == wanted[:4]
    else:
        assert made == wanted


UFUNCS = [
    lambda c: c.m.add(c.a, c.Whole()), lambda c: c.a + c.Whole(), lambda c: c.a < c.Whole(), lambda c: c.a @ c.Whole(),
    lambda c: c.a ** c.Whole(), lambda c: c.m.sin(c.Whole(), where=True), lambda c: c.m.add(1, 2, c.Whole()),
    lambda c: c.m.add(1, 2, out=c.Whole()), lambda c: c.m.add(c.a, 2, where=c.Whole()),
    lambda c: c.m.add(c.Whole(), c.Part()),
    lambda c: c.m.add(c.Other(), c.Whole()), lambda c: c.m.add(c.No(), c.Whole()), lambda c: c.m.add(c.a, c.No()),
    lambda c: c.m.add.reduce(c.Whole(), 0, None, None, False), lambda c: c.m.add.reduce(c.Whole(), axis=1, out=None),
    lambda c: c.m.add.reduce(c.a, out=c.Whole()), lambda c: c.m.add.accumulate(c.Whole(), 0),
    lambda c: c.m.add.outer(c.a, c.Whole()),
    lambda c: c.m.add.reduceat(c.Whole(), [0, 1]), lambda c: c.m.add.at(c.Whole(), [0], 1),
    lambda c: c.m.add.at(c.Whole()),
    lambda c: c.m.divmod(c.a, c.Whole()), lambda c: c.m.frexp(c.Whole(), None, c.a),
    lambda c: c.m.frexp(c.Whole(), out=c.a),
    lambda c: c.m.matmul(c.Whole(), c.a), lambda c: c.m.vecdot(c.a, c.Whole()), lambda c: c.m.add(c.Whole()),
    lambda c: c.m.add(c.Whole(), 1, nothing=2), lambda c: c.m.add(c.Whole(), 1, out=(None,)),
    lambda c: c.m.add(c.Whole(), 1, out=()),
    lambda c: c.m.add.reduce(c.Whole(), 0, axis=0), lambda c: c.m.add(c.Whole(), 1, c.a, out=c.a),
    lambda c: c.m.add(c.Out(), 1),
    lambda c: c.m.add(c.Whole(), c.Out()), lambda c: c.a + c.Out(), lambda c: c.a @ c.Out(), lambda c: c.a ** c.Out(),
    lambda c: c.a < c.Out(), lambda c: c.a == c.Out(), lambda c: c.m.multiply(c.a, c.Whole(), sig="dd->d"),
    lambda c: c.a * c.Out(),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(UFUNCS)))
def test_functions_of_elements_ask_classes_as_numpys_do(number):
    wanted, made = both(UFUNCS[number])
    assert made == wanted


def test_statements_in_place_ask_the_class_with_out():
    def call(c):
        c.a += c.Whole()
        return c.a

    wanted, made = both(call)
    assert made == wanted and made[-1] == {"out": [[0, 1, 2]]}


def test_an_array_leaves_calls_to_other_classes_that_answer():
    for m in (np, tn):
        c = classes(m)
        assert c.a.__array_ufunc__(m.add, "__call__", c.a, c.Whole()) is NotImplemented
        assert c.a.__array_ufunc__(m.add, "__call__", c.a, 1).tolist() == [1, 2, 3]
        assert c.a.__array_ufunc__(m.add, "reduce", c.a) == 3
        assert c.a.__array_function__(m.sum, (m.ndarray, c.Whole), (c.a,), {}) is NotImplemented
        assert c.a.__array_function__(m.sum, (m.ndarray,), (c.a,), {}) == 3
        assert c.a.__array_function__(lambda x: x + 1, (m.ndarray,), (c.a,), {}).tolist() == [1, 2, 3]
        for wrong in (([c.a], {}), ((c.a,), ())):
            with pytest.raises(TypeError):
                c.a.__array_function__(m.sum, (m.ndarray,), *wrong)
        with pytest.raises(TypeError):
            c.a.__array_ufunc__(1, 2)


def counting(m):
    class Counting(m.ndarray):
        def __array_ufunc__(self, function, method, *inputs, out=(), **options):
            plain = [x.view(m.ndarray) if isinstance(x, Counting) else x for x in inputs]
            if out:
                options["out"] = tuple(x.view(m.ndarray) if isinstance(x, Counting) else x for x in out)
            made = super().__array_ufunc__(function, method, *plain, **options)
            return f"{function.__name__}.{method}", np.asarray(made).tolist()

        def __array_function__(self, function, kinds, args, options):
            return function.__name__, super().__array_function__(function, kinds, args, options)

    return m.arange(3.0).view(Counting)


@pytest.mark.parametrize("call", [
    lambda m, a: a + 1, lambda m, a: 1 - a, lambda m, a: -a, lambda m, a: m.add.reduce(a), lambda m, a: a.sum(),
    lambda m, a: a.max(axis=0), lambda m, a: a.any(), lambda m, a: a ** 2, lambda m, a: a @ a, lambda m, a: a < a,
    lambda m, a: m.ptp(a.view(m.ndarray)), lambda m, a: m.sum(a), lambda m, a: m.multiply(a, a, out=m.zeros(3)),
    lambda m, a: m.add.outer(a, a), lambda m, a: m.frexp(a.view(m.ndarray), out=(a, None))[0],
])  # fmt: skip
def test_derived_classes_answer_by_what_their_base_does(call):
    wanted, made = call(np, counting(np)), call(tn, counting(tn))
    assert made == wanted


def test_numpys_functions_ask_derived_classes_too():
    assert np.sin(counting(tn))[0] == "sin.__call__"
    assert np.add(np.ones(3), counting(tn)) == ("add.__call__", [1, 2, 3])


def wrapping(m):
    class Wraps:
        def __array__(self, dtype=None, copy=None):
            return m.ones(3)

        def __array_wrap__(self, array, context=None, return_scalar=False):
            assert type(array) is m.ndarray
            return type(self).__name__, array.tolist(), context[0].__name__, len(context[1]), context[2], return_scalar

    class High(Wraps):
        __array_priority__ = 20.0

    class Nothing(Wraps):
        def __array_wrap__(self, array, context=None, return_scalar=False):
            return None

    return m, m.arange(3.0), Wraps, High, Nothing


@pytest.mark.parametrize("call", [
    lambda m, a, w, h, n: m.minimum(a, w()), lambda m, a, w, h, n: m.add(w(), a), lambda m, a, w, h, n: m.add(w(), h()),
    lambda m, a, w, h, n: m.sin(h()), lambda m, a, w, h, n: m.add(w(), 1, subok=False).tolist(),
    lambda m, a, w, h, n: m.sin(n()),
    lambda m, a, w, h, n: m.add(w(), 1, out=a).tolist(),
])  # fmt: skip
def test_results_are_wrapped_by_operands_of_other_classes(call):
    wanted, made = call(*wrapping(np)), call(*wrapping(tn))
    assert made == wanted


def test_results_are_wrapped_by_the_class_of_out():
    for m in (np, tn):
        seen = []

        class Kept(m.ndarray):
            def __array_wrap__(self, array, context=None, return_scalar=False):
                seen.append(([x if x is not self else "self" for x in context[1]], context[2], return_scalar))  # noqa: B023
                return array

        out = m.zeros(()).view(Kept)
        m.add(0, 1, out), m.add(0, 1, out=(out,)), m.frexp(8.0, None, m.zeros((), "i4").view(Kept))
        with pytest.raises(TypeError):
            m.add(0, 1, out, out=out)
        assert seen[:2] == [([0, 1, "self"], 0, False)] * 2
        assert (seen[2][0][1:], seen[2][1:]) == ([None, "self"], (1, False))


def test_operators_are_left_to_what_ranks_higher():
    class High:
        __array_priority__ = 2000

        def __rmul__(self, other):
            return "rmul"

    class Low(High):
        __array_priority__ = 1

    for m in (np, tn):
        assert m.ones(3) * High() == "rmul" and m.ones(3) * Low() == "rmul"


def test_a_class_of_a_module_with_numpy_alone_gets_numpys_function():
    module = types.ModuleType("of_others")
    exec(  # noqa: S102
        "import numpy\n"
        "class Known:\n"
        "    def __array_function__(self, function, kinds, args, options):\n"
        "        return {numpy.sum: 'sum'}[function]\n"
        "    def __array_ufunc__(self, function, method, *inputs, **options):\n"
        "        return {numpy.add: 'add'}[function]\n",
        vars(module),
    )
    known = module.Known()
    assert tn.sum(known) == "sum" and tn.add(known, 1) == "add" and tn.ones(2) + known == "add"


def test_memory_of_a_gpu_is_read_whatever_its_class_answers():
    class Shown:
        def __init__(self):
            self.array = np.arange(3.0)

        @property
        def __cuda_array_interface__(self):
            return {**self.array.__array_interface__, "version": 3, "stream": None}

        def __array_function__(self, *args):
            return NotImplemented

        def __array_ufunc__(self, *args, **options):
            return NotImplemented

    assert (tn.ones(3) + Shown()).tolist() == [1, 2, 3] and tn.sum(Shown()) == 3
