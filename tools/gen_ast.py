# SPDX-License-Identifier: Apache-2.0
"""Writes python/tessera/_ast_table.py from src/lang/ast.def; with --check only says whether it is fresh."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent.parent
SOURCE = ROOT / "src/lang/ast.def"
OUT = ROOT / "python/tessera/_ast_table.py"


def table() -> str:
    text = SOURCE.read_text()
    rows = re.findall(r'^TS_AST\((\w+),\s*"(\w*)",\s*"([\w ]*)"\)', text, re.MULTILINE)
    operators = re.findall(r"^TS_AST_OPERATOR\((\w+)\)", text, re.MULTILINE)
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        '"""Node kinds of the packed AST; written by tools/gen_ast.py from src/lang/ast.def."""',
        "",
        "# kind: (number, ((attribute, field letter), ...))",
        "NODES = {",
    ]
    for number, (kind, letters, names) in enumerate(rows, 1):
        fields = ", ".join(f'("{n}", "{c}")' for n, c in zip(names.split(), letters, strict=True))
        lines.append(f'    "{kind}": ({number}, ({fields}{"," if len(letters) == 1 else ""})),')
    lines += ["}", "OPERATORS = {"]
    lines += [f'    "{name}": {number},' for number, name in enumerate(operators, 1)]
    return "\n".join([*lines, "}", ""])


def main() -> int:
    if "--check" in sys.argv:
        return 0 if OUT.read_text() == table() else 1
    OUT.write_text(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
