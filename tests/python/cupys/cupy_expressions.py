# SPDX-License-Identifier: Apache-2.0
"""Random expressions of C on int, and what they are by NumPy with C's rules."""

import numpy as np


def expression(random, values, depth=4):
    """A text and its value, int32; what C leaves undefined does not occur."""
    if depth == 0 or random.rand() < 0.15:
        if random.rand() < 0.7:
            name = random.choice(list(values))
            return name, values[name]
        number = int(random.randint(0, 9))
        return str(number), np.full(16, number, "i4")
    kind = random.choice(
        ["+", "-", "*", "&", "|", "^", "/", "%", "<", "==", "?:", "~", "-x", ">>", "<<", "&&"]
    )
    a, x = expression(random, values, depth - 1)
    if kind in ("~", "-x"):
        return f"({kind[0]}{a})", ~x if kind == "~" else -x
    b, y = expression(random, values, depth - 1)
    with np.errstate(all="ignore"):
        if kind in "/%":
            y = (y & 7) + 1
            whole = np.trunc(x.astype("f8") / y).astype("i4")
            return f"({a} {kind} (({b} & 7) + 1))", whole if kind == "/" else x - whole * y
        if kind in (">>", "<<"):
            return f"({a} {kind} ({b} & 3))", x >> (y & 3) if kind == ">>" else x << (y & 3)
        if kind == "?:":
            return f"({a} > 2 ? {b} : {a})", np.where(x > 2, y, x)
        if kind == "&&":
            return f"({a} && {b})", ((x != 0) & (y != 0)).astype("i4")
        made = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
                "^": np.bitwise_xor,
                "<": np.less, "==": np.equal}[kind](x, y)  # fmt: skip
        return f"({a} {kind} {b})", made.astype("i4")
