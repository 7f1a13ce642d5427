# SPDX-License-Identifier: Apache-2.0
"""A reader of PTX text: runs the code of one kernel over host arrays, without the compiler and without a GPU.

It sees what no interpreter of the compiler's own code can: registers, branches, addresses and the spelling
of instructions. text.py takes the text apart, machine.py runs it with all threads of some blocks as the
lanes of NumPy arrays, compute.py says what instructions calculate, memory.py and warps.py what they do
with memory and with other threads. What is read is the PTX ISA's own description of each instruction.
"""

from .machine import Fault, Launch, run
from .memory import Memory
from .text import Unread, parsed

__all__ = ["Fault", "Launch", "Memory", "Unread", "parsed", "run"]
