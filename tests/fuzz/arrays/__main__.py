# SPDX-License-Identifier: Apache-2.0
"""`python tests/fuzz/arrays`: see program.py."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from arrays.program import main

if __name__ == "__main__":
    sys.exit(main())
