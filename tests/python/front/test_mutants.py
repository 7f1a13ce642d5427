# SPDX-License-Identifier: Apache-2.0
"""A bounded run of mutate.py: 250 odd programs lower or are refused with their place. The long form is the program
itself, under AddressSanitizer too."""

import pathlib
import subprocess
import sys

import mutate
import pytest
from lower import array, lower_pack, scalar
from tessera._pack import pack_function

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("text", mutate.BASE, ids=("first", "second"))
def test_what_is_mutated_compiles(text, tmp_path):
    path = tmp_path / "base.py"
    path.write_text(text)
    space: dict = {"ct": mutate.ct}
    exec(compile(text, str(path), "exec"), space)  # noqa: S102
    assert "return" in lower_pack(pack_function(space["kernel"]), array("int32"), array("int32"), scalar("int32"), 16)


def test_odd_programs_lower_or_name_their_mistake():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "mutate.py"), "--seed", "1", "--cases", "250"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "250 programs, 0 findings" in done.stdout, done.stdout + done.stderr[-3000:]
