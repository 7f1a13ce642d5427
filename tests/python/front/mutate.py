# SPDX-License-Identifier: Apache-2.0
"""Odd but valid Python for the front end: mutated syntax trees of two kernels that use most of the language, deep
nesting, long lists, cyclic and foreign globals. Each lowers, or is refused with the place of the mistake.

    python tests/python/front/mutate.py --seed 1 --seconds 60     # names each finding and its seed
    python tests/python/front/mutate.py --seed 1234 --cases 1 --show
"""

import argparse
import ast
import copy
import linecache
import random
import sys
import time

import numpy as np
import tessera
import tessera.tile as ct
from lower import LowerError, array, lower_pack, scalar
from tessera._pack import pack_function

BASE = '''
def helper(x, *rest, k=2):
    for i in range(k):
        if i == 3:
            return x
    return x + 1 if k > 1 else x * 2
def kernel(a, o, n, C):
    i = ct.bid(0)
    t = ct.load(a, i, 16, padding_mode=ct.PaddingMode.ZERO)
    s, (u, v) = 0, (1, 2.5)
    while n > 0:
        n = n // 2
        if n == 3:
            break
        elif n > 4 and not n < 2 or n == 7:
            continue
    for k, w in ct.static_iter(enumerate((1, 2, 3))):
        s += k * w
    f = lambda p, q=1: p + q
    q = ct.reduce((t, t + 1), 0, lambda a, b, c, d: (a + c, b * d), (0, 1))
    t = ct.where(t > 3, f(t), helper(t, 1, 2, k=C)) + s + q[0] - len("abc")
    t = t + tuple(x for x in ct.static_iter(range(4)) if x != 2)[-1]
    ct.print(f"{n} {C:3d}", t[None, :].reshape((4, -1)))
    ct.store(o, (i,), ct.astype(ct.cat((t, -t), 0), ct.int32) if C > 100 else t)
''', '''
def scale(x, by=2):
    return x * ct.int16(by)
def kernel(a, o, n, C):
    fns = tuple(lambda: s + n for s, (w, z) in ct.static_iter(((1, (2, 3)), (C, (n, 4)))))
    pair = (n, (C, "x", None))
    acc = 0
    for b in range(ct.num_tiles(a, 0, 4)):
        part = ct.load(a, (b,), (4,))
        acc += ct.sum(part) % (b - 1)
        if pair == (b, (16, "x", None)) or b in (1, n, 3):
            acc = acc // n
        pair = (b, pair[1])
    view = a.tiled_view((4,), padding_mode=ct.PaddingMode.ZERO)
    low = ct.full((4,), 0.3, ct.float8_e4m3fn)
    rest = a.slice(axis=0, start=n, stop=n + 4)
    t = ct.insert(view.load((0,)), (0,), ct.extract(view.load((1,)), (1,), (2,)))
    u = ct.gather(a, (ct.arange(4, dtype=ct.int32) + n,), mask=t > 1, padding_value=0)
    d = dict_of(p=t, q=u)
    ct.atomic_add(o, ct.arange(4, dtype=ct.int32), d["p"] + (1 if "q" in d else 2))
    ct.scatter(o, 0, fns[0]() + fns[1]() + acc)
    ct.store(o, 1, scale(ct.load(rest, 0, 4)) + ct.astype(ct.astype(low, ct.float32), o.dtype))
def dict_of(**items):
    return items
'''  # fmt: skip
DEEP = [
    lambda n: "ct.store(o, 0, " + "(" * n + "1" + ")" * n + ")", lambda n: "x = " + "-" * n + "n",
    lambda n: "x = " + "n+" * n + "n", lambda n: "x = " + "(" * n + "n" + ",)" * n,
    lambda n: "x = " + "[" * n + "]" * n,
    lambda n: "x = " + " and ".join(["n > 1"] * n), lambda n: "x = " + "(lambda: " * n + "n" + ")()" * n,
    lambda n: "x = " + "n if n > 1 else " * n + "n", lambda n: "x = " + " < ".join(["n"] * n),
    lambda n: "x = (" + "n," * n + ")\n    y = x == x", lambda n: "x = 1" + "0" * n,
    lambda n: f"x = 2 ** {n}\n    y = x + n",
    lambda n: f"x = 1 << {n}", lambda n: f"x = 'a' * {n}", lambda n: f"x = (1, 2) * {n}",
    lambda n: "x = n" + ".shape" * n,
    lambda n: "x = a" + "[0]" * n, lambda n: "\n    ".join(f"v{i} = n + {i}" for i in range(n)),
    lambda n: f"for i in ct.static_iter(range({n})):\n        n = n + i",
    lambda n: "x = " + "helper(" * n + "n" + ")" * n,
    lambda n: "x = " + "not " * n + "n", lambda n: "t = ct.zeros((" + "1," * n + "), ct.int32)",
    lambda n: f"t = ct.zeros(({n * n},), ct.int8)", lambda n: f"t = ct.zeros((2**{n % 64}, 2**{n % 40}), ct.int8)",
    lambda n: "x = '" + "é\U0001F600" * n + "'\n    ct.print(x)", lambda n: "v" + "é" * n + " = n",
    lambda n: "x = f'" + "{n}" * n + "'\n    ct.print(x)", lambda n: "ct.printf('" + "%d" * n + "'," + "n," * n + ")",
    lambda n: "x = helper(*(" + "1," * n + "))",
    lambda n: "x = -(2**127) // -1\n    y = abs(-(2**127))\n    w = -(-(2**127))",
    lambda n: "ct.static_eval(" + "(" * n + "1" + ")" * n + ")",
    lambda n: f"x = 1.5e{n}\n    y = int(x)\n    z = n + x",
    lambda n: f"x = 3 ** {n}\n    y = 0.0 ** -{n}",
    lambda n: f"x = tuple(lambda: i for i in ct.static_iter(range({n})))\n    y = x[0]()",
    lambda n: "x = tuple(0 " + "for i in ct.static_iter((1,)) " * n + ")", lambda n: f"x = ct.float8_e4m3fn({n}) == n",
]  # fmt: skip
ODD = (0, -1, 1, 2**31, 2**63, 2**64, 2**127, -(2**127), 10**50, 1e308, float("inf"), float("nan"), "", "\0",
    "\ud800", b"x", None,
       True, ..., 1j, (1, 2), 3, 16, 1000000)  # fmt: skip
NAMES = "a o n C t ct f helper kernel s q zz range cycle odd big fns pair d view".split()
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitAnd,
    ast.MatMult)
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot)
INTERNAL = ("VERIFY", "PARSE", "INTERNAL", "NOMEM", "VALUE")  # no mistakes of a kernel's author


class Mutate(ast.NodeTransformer):
    """Replaces, repeats, drops and reorders nodes; `pool` holds expressions to put in their place."""

    def __init__(self, r: random.Random, pool: list[ast.AST]) -> None:
        self.r, self.pool = r, [n for n in pool if isinstance(n, ast.expr)]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        r = self.r
        if isinstance(node, ast.expr) and r.random() < 0.03:
            kind = type(getattr(node, "ctx", None))
            other = [n for n in self.pool if isinstance(getattr(n, "ctx", None), kind)]
            return copy.deepcopy(r.choice(other)) if other else node
        if isinstance(node, ast.Constant) and r.random() < 0.12:
            return ast.Constant(r.choice(ODD))
        if isinstance(node, ast.operator) and r.random() < 0.1:
            return r.choice(OPERATORS)()
        if isinstance(node, ast.cmpop) and r.random() < 0.1:
            return r.choice(COMPARISONS)()
        if isinstance(node, ast.Name) and r.random() < 0.05:
            return ast.Name(r.choice(NAMES), node.ctx)
        for items in (getattr(node, f, None) for f in ("body", "elts", "args", "keywords", "generators", "orelse")):
            if isinstance(items, list) and items and r.random() < 0.03:
                self.change(items)
        return node

    def change(self, items: list) -> None:
        kind = self.r.randrange(3)
        if kind == 0:
            items.append(copy.deepcopy(self.r.choice(items)))
        elif kind == 1 and len(items) > 1:
            items.pop(self.r.randrange(len(items)))
        else:
            self.r.shuffle(items)


def program(r: random.Random) -> str:
    """The text of one odd program; it defines `kernel(a, o, n, C)`."""
    if r.random() < 0.3:
        n = r.choice([10, 100, 300, 1000, 3000])
        body = r.choice(DEEP)(n)
        head = BASE[0].split("def kernel")[0] + "def kernel(a, o, n, C):\n"
        return f"{head}    {body}\n    ct.store(o, 0, ct.load(a, 0, 16))\n"
    tree: ast.AST = ast.parse(r.choice(BASE))
    pool = list(ast.walk(tree))
    for _ in range(r.choice([1, 1, 2, 3])):
        tree = Mutate(r, pool).visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree))


def attempt(seed: int, show: bool = False) -> str | None:
    """Lowers the program of a seed; what is wrong with the answer, or None."""
    r = random.Random(seed)
    try:
        text = program(r)
        if show:
            print(text)
        name = f"<odd {seed}>"
        code = compile(text, name, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError, AttributeError, TypeError):
        return None  # no Python
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    cycle: list = []
    cycle.append(cycle)
    odd = (object(), np.float32(1), np.zeros(3), {"a": 1}, type, print, range(3), slice(1), ct, np, 5 + 3j, "x" * 1000)
    big = (10**400, tuple(range(5000)), "y" * 10**6)
    space = {"ct": ct, "cycle": cycle, "odd": r.choice(odd), "big": r.choice(big)}
    kinds = [r.choice(("int32", "float32", "int64", "float16")) for _ in range(2)]
    args = *map(array, kinds), r.choice((scalar("int32"), 5, 0)), r.choice((16, 2, 101))
    start = time.monotonic()
    try:
        exec(code, space)  # noqa: S102
        lower_pack(pack_function(space["kernel"]), *args)
    except LowerError as error:
        if show:
            print(error)
        wrong = error.status in INTERNAL or "<odd" not in str(error)
        return f"{error.status}: {error}" if wrong else None
    except (tessera.TileSyntaxError, tessera.TileRecursionError):
        pass
    except Exception as error:  # what the program itself does when it is defined
        inside = error.__traceback__
        while inside is not None and inside.tb_next is not None:
            inside = inside.tb_next
        ours = inside is not None and "tessera" in inside.tb_frame.f_code.co_filename
        if ours and not isinstance(error, (RuntimeError, RecursionError)):
            return f"{type(error).__name__}: {error}"
    finally:
        linecache.cache.pop(name, None)
    took = time.monotonic() - start
    return f"took {took:.0f} s" if took > 20 else None


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--cases", type=int, default=10**9)
    options.add_argument("--seconds", type=float, default=1e9)
    options.add_argument("--show", action="store_true")
    o = options.parse_args()
    end, found, seed = time.monotonic() + o.seconds, 0, o.seed
    while seed < o.seed + o.cases and time.monotonic() < end:
        print(f"@{seed}", file=sys.stderr, flush=True)  # the last one is the one that ended the process
        wrong = attempt(seed, o.show)
        if wrong:
            found += 1
            print(f"seed {seed}: {wrong[:1000]}", flush=True)
        seed += 1
    print(f"{seed - o.seed} programs, {found} findings")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
