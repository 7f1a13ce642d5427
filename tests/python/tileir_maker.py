# SPDX-License-Identifier: Apache-2.0
"""Tile IR bytecode by hand: a second opinion on the format, beside the library's own writer."""

TAGS = {"i1": 0, "i8": 1, "i16": 2, "i32": 3, "i64": 4, "f16": 5, "f32": 7, "f64": 9, "token": 17}
PTR, TILE, TENSOR_VIEW, PARTITION_VIEW, FUNCTION = 12, 13, 14, 15, 16


def varint(x):
    out = bytearray()
    while x > 127:
        out.append(x & 127 | 128)
        x >>= 7
    return bytes([*out, x])


def numbers(values, width):
    return varint(len(values)) + b"".join(v.to_bytes(width, "little", signed=True) for v in values)


def padded(data, align):
    return data + b"\xcb" * (-len(data) % align)


def table(items, width):
    out, at = padded(varint(len(items)), width), 0
    for item in items:
        out += at.to_bytes(width, "little")
        at += len(item)
    return out + b"".join(items)


class Maker:
    """One kernel; operations are appended as bytes, values are counted."""

    def __init__(self, version=131):
        self.version, self.types, self.strings, self.constants = version, [], [], []
        self.body, self.values = b"", 0

    def _keep(self, items, item):
        if item not in items:
            items.append(item)
        return items.index(item)

    def string(self, text):
        return self._keep(self.strings, text.encode())

    def scalar(self, name):
        return self._keep(self.types, bytes([TAGS[name]]))

    def pointer(self, elem):
        flags = b"\0" if self.version >= 134 else b""
        return self._keep(self.types, bytes([PTR]) + flags + varint(self.scalar(elem)))

    def tile(self, elem, *dims):
        inner = elem if isinstance(elem, int) else self.scalar(elem)
        return self._keep(self.types, bytes([TILE]) + varint(inner) + numbers(dims, 8))

    def tensor_view(self, elem, dims, strides):
        flags = b"\0" if self.version >= 134 else b""
        body = flags + varint(self.scalar(elem)) + numbers(dims, 8) + numbers(strides, 8)
        return self._keep(self.types, bytes([TENSOR_VIEW]) + body)

    def partition_view(self, tile, view, padding=None):
        there = b"\0" if padding is None else b"\1"
        end = b"" if padding is None else bytes([padding])
        body = numbers(tile, 4) + varint(view) + numbers(range(len(tile)), 4)
        body = there + body + end if self.version >= 133 else body + there + end
        return self._keep(self.types, bytes([PARTITION_VIEW]) + body)

    def op(self, code, *parts, results=0):
        """Numbers are varints, bytes go in as they are; gives the numbers of the results."""
        self.body += varint(code) + b"".join(p if isinstance(p, bytes) else varint(p) for p in parts)
        first, self.values = self.values, self.values + results
        return first if results == 1 else range(first, first + results)

    def constant(self, type, data):
        return self.op(16, type, self._keep(self.constants, varint(len(data)) + data), results=1)

    def file(self, name, params):
        """`params`: type numbers; to be called last, parameters are the first values."""
        function = bytes([FUNCTION]) + varint(len(params)) + b"".join(map(varint, params)) + varint(0)
        functions = varint(1) + varint(self.string(name)) + varint(self._keep(self.types, function))
        functions += b"\2" + varint(0) + varint(len(self.body)) + self.body
        out = b"\x7fTileIR\0" + bytes([13, self.version % 10, 0, 0])
        for id, align, data in (
            (2, 8, functions),
            (4, 8, table(self.constants, 8)),
            (5, 4, table(self.types, 4)),
            (1, 4, table(self.strings, 4)),
        ):
            out = padded(out + bytes([id | 128]) + varint(len(data)) + varint(align), align) + data
        return out + b"\0"


def scale(version=131):
    """out[i] = 2 x[i] + i for blocks of 8 floats, past the end nothing; `x` and `out` of one axis."""
    m = Maker(version)
    number, tile, token = m.tile("i32"), m.tile("f32", 8), m.scalar("token")
    pointer = m.tile(m.pointer("f32"))
    view = m.tensor_view("f32", [-(1 << 63)], [1])
    part = m.partition_view([8], view, 0)
    params = [pointer, number, number, pointer, number, number]
    m.values = len(params)
    x_view = m.op(67, 1, view, 0, 1, 1, 0, results=1)
    out_view = m.op(67, 1, view, 3, 1, 4, 0, results=1)
    x_part, out_part = m.op(66, part, x_view, results=1), m.op(66, part, out_view, results=1)
    block = m.op(48, number, number, number, results=3)[0]
    inbounds = b"\0" if version >= 134 else b""
    x = m.op(62, 2, tile, token, 0, 0, inbounds, x_part, 1, block, results=2)[0]
    twice = m.op(2, tile, 0, 0, x, x, results=1)
    ramp = m.op(59, tile, 1, 0, m.op(58, m.tile("i32", 8), results=1), results=1)
    first = m.op(78, number, 0, block, m.constant(number, (8).to_bytes(4, "little")), results=1)
    spread = m.op(11, m.tile("i32", 8), m.op(91, m.tile("i32", 1), first, results=1), results=1)
    ramp = m.op(2, tile, 0, 0, ramp, m.op(59, tile, 1, 0, spread, results=1), results=1)
    sum = m.op(2, tile, 0, 0, twice, ramp, results=1)
    m.op(102, 1, token, 0, 0, inbounds, sum, out_part, 1, block, results=1)
    m.op(92, 0, 0)
    return m.file("scale", params)
