# SPDX-License-Identifier: Apache-2.0
"""Numbers of the packed AST, by tools/gen_language.py from src/lang/ast.def and pack.h. Do not edit."""

MAGIC = 0x4B505354
VERSION = 4

# kind: (number, ((attribute, field letter), ...))
NODES = {
    "Name": (1, (("id", "s"),)),
    "Constant": (2, (("value", "o"),)),
    "Tuple": (3, (("elts", "l"),)),
    "List": (4, (("elts", "l"),)),
    "Attribute": (5, (("value", "n"), ("attr", "s"))),
    "Subscript": (6, (("value", "n"), ("slice", "n"))),
    "Slice": (7, (("lower", "n"), ("upper", "n"), ("step", "n"))),
    "Call": (8, (("func", "n"), ("args", "l"), ("keywords", "l"))),
    "keyword": (9, (("arg", "s"), ("value", "n"))),
    "Starred": (10, (("value", "n"),)),
    "UnaryOp": (11, (("op", "e"), ("operand", "n"))),
    "BinOp": (12, (("left", "n"), ("op", "e"), ("right", "n"))),
    "BoolOp": (13, (("op", "e"), ("values", "l"))),
    "Compare": (14, (("left", "n"), ("ops", "k"), ("comparators", "l"))),
    "IfExp": (15, (("test", "n"), ("body", "n"), ("orelse", "n"))),
    "Lambda": (16, (("args", "g"), ("body", "n"))),
    "arg": (17, (("arg", "s"), ("kind", "i"), ("default", "n"))),
    "JoinedStr": (18, (("values", "l"),)),
    "FormattedValue": (19, (("value", "n"), ("conversion", "i"), ("format_spec", "n"))),
    "GeneratorExp": (20, (("elt", "n"), ("generators", "l"))),
    "comprehension": (21, (("target", "n"), ("iter", "n"), ("ifs", "l"))),
    "NamedExpr": (22, (("target", "n"), ("value", "n"))),
    "Yield": (23, (("value", "n"),)),
    "Expr": (24, (("value", "n"),)),
    "Assign": (25, (("targets", "l"), ("value", "n"))),
    "AugAssign": (26, (("target", "n"), ("op", "e"), ("value", "n"))),
    "AnnAssign": (27, (("target", "n"), ("value", "n"))),
    "For": (28, (("target", "n"), ("iter", "n"), ("body", "l"), ("orelse", "l"))),
    "While": (29, (("test", "n"), ("body", "l"), ("orelse", "l"))),
    "If": (30, (("test", "n"), ("body", "l"), ("orelse", "l"))),
    "Return": (31, (("value", "n"),)),
    "Break": (32, ()),
    "Continue": (33, ()),
    "Pass": (34, ()),
    "FunctionDef": (35, (("name", "s"), ("args", "g"), ("body", "l"), ("decorator_list", "l"))),
    "Assert": (36, (("test", "n"), ("msg", "n"))),
    "With": (37, (("items", "l"), ("body", "l"))),
    "withitem": (38, (("context_expr", "n"), ("optional_vars", "n"))),
    "Match": (39, (("subject", "n"), ("cases", "l"))),
    "match_case": (40, (("pattern", "n"), ("guard", "n"), ("body", "l"))),
    "MatchValue": (41, (("value", "n"),)),
    "MatchSingleton": (42, (("value", "o"),)),
    "MatchSequence": (43, (("patterns", "l"),)),
    "MatchStar": (44, (("name", "s"),)),
    "MatchAs": (45, (("pattern", "n"), ("name", "s"))),
    "MatchOr": (46, (("patterns", "l"),)),
    "MatchClass": (47, (("cls", "n"), ("patterns", "l"), ("kwd_attrs", "t"), ("kwd_patterns", "l"))),
    "Host": (48, (("site", "i"), ("names", "l"), ("more", "l"))),
    "Unsupported": (49, (("what", "s"),)),
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
MODULE = 10
CLASS = 11
OP = 12
FUNC = 13
BUILTIN = 14
TYPED = 15
OPAQUE = 16
ELLIPSIS = 17
DICT = 18
COMPLEX = 19
RECORD = 20
INSTANCE = 21
METHOD = 22
