# SPDX-License-Identifier: Apache-2.0
"""Numbers of the packed AST, by tools/gen_language.py from src/lang/ast.def and pack.h. Do not edit."""

MAGIC = 0x4B505354
VERSION = 10

# kind: (number, ((attribute, field letter), ...))
NODES = {
    "Name": (1, (("id", "s"),)),
    "Constant": (2, (("value", "o"),)),
    "Tuple": (3, (("elts", "l"),)),
    "List": (4, (("elts", "l"),)),
    "Dict": (5, (("keys", "l"), ("values", "l"))),
    "Attribute": (6, (("value", "n"), ("attr", "s"))),
    "Subscript": (7, (("value", "n"), ("slice", "n"))),
    "Slice": (8, (("lower", "n"), ("upper", "n"), ("step", "n"))),
    "Call": (9, (("func", "n"), ("args", "l"), ("keywords", "l"))),
    "keyword": (10, (("arg", "s"), ("value", "n"))),
    "Starred": (11, (("value", "n"),)),
    "UnaryOp": (12, (("op", "e"), ("operand", "n"))),
    "BinOp": (13, (("left", "n"), ("op", "e"), ("right", "n"))),
    "BoolOp": (14, (("op", "e"), ("values", "l"))),
    "Compare": (15, (("left", "n"), ("ops", "k"), ("comparators", "l"))),
    "IfExp": (16, (("test", "n"), ("body", "n"), ("orelse", "n"))),
    "Lambda": (17, (("args", "g"), ("body", "n"))),
    "arg": (18, (("arg", "s"), ("kind", "i"), ("default", "n"))),
    "JoinedStr": (19, (("values", "l"),)),
    "FormattedValue": (20, (("value", "n"), ("conversion", "i"), ("format_spec", "n"))),
    "GeneratorExp": (21, (("elt", "n"), ("generators", "l"))),
    "comprehension": (22, (("target", "n"), ("iter", "n"), ("ifs", "l"))),
    "NamedExpr": (23, (("target", "n"), ("value", "n"))),
    "Yield": (24, (("value", "n"),)),
    "Expr": (25, (("value", "n"),)),
    "Assign": (26, (("targets", "l"), ("value", "n"))),
    "AugAssign": (27, (("target", "n"), ("op", "e"), ("value", "n"))),
    "AnnAssign": (28, (("target", "n"), ("value", "n"))),
    "For": (29, (("target", "n"), ("iter", "n"), ("body", "l"), ("orelse", "l"))),
    "While": (30, (("test", "n"), ("body", "l"), ("orelse", "l"))),
    "If": (31, (("test", "n"), ("body", "l"), ("orelse", "l"))),
    "Return": (32, (("value", "n"),)),
    "Break": (33, ()),
    "Continue": (34, ()),
    "Pass": (35, ()),
    "FunctionDef": (36, (("name", "s"), ("args", "g"), ("body", "l"), ("decorator_list", "l"))),
    "Assert": (37, (("test", "n"), ("msg", "n"))),
    "With": (38, (("items", "l"), ("body", "l"))),
    "withitem": (39, (("context_expr", "n"), ("optional_vars", "n"))),
    "Match": (40, (("subject", "n"), ("cases", "l"))),
    "match_case": (41, (("pattern", "n"), ("guard", "n"), ("body", "l"))),
    "MatchValue": (42, (("value", "n"),)),
    "MatchSingleton": (43, (("value", "o"),)),
    "MatchSequence": (44, (("patterns", "l"),)),
    "MatchStar": (45, (("name", "s"),)),
    "MatchAs": (46, (("pattern", "n"), ("name", "s"))),
    "MatchOr": (47, (("patterns", "l"),)),
    "MatchClass": (48, (("cls", "n"), ("patterns", "l"), ("kwd_attrs", "t"), ("kwd_patterns", "l"))),
    "Host": (49, (("site", "i"), ("names", "l"), ("more", "l"))),
    "Raise": (50, (("object", "i"), ("name", "s"), ("args", "l"))),
    "Unsupported": (51, (("what", "s"),)),
}
OPERATORS = {
    "Add": 1,
    "Sub": 2,
    "Mult": 3,
    "Div": 4,
    "FloorDiv": 5,
    "Mod": 6,
    "Pow": 7,
    "MatMult": 8,
    "LShift": 9,
    "RShift": 10,
    "BitOr": 11,
    "BitXor": 12,
    "BitAnd": 13,
    "UAdd": 14,
    "USub": 15,
    "Invert": 16,
    "Not": 17,
    "And": 18,
    "Or": 19,
    "Eq": 20,
    "NotEq": 21,
    "Lt": 22,
    "LtE": 23,
    "Gt": 24,
    "GtE": 25,
    "Is": 26,
    "IsNot": 27,
    "In": 28,
    "NotIn": 29,
}
# Kinds of parameters.
POSITIONAL = 0
EITHER = 1
REST = 2
KEYWORD = 3
KEYWORDS = 4
# Kinds of objects.
NONE = 1
BOOL = 2
INT = 3
BIGINT = 4
FLOAT = 5
STR = 6
TUPLE = 7
DTYPE = 8
ENUM = 9
ENUM_VALUE = 10
MODULE = 11
CLASS = 12
OP = 13
FUNC = 14
BUILTIN = 15
TYPED = 16
OPAQUE = 17
ELLIPSIS = 18
DICT = 19
COMPLEX = 20
RECORD = 21
INSTANCE = 22
METHOD = 23
STRUCT = 24
CHARS = 25
BYTES = 26
ELEMENTS = 27
CAPTURED = 28
