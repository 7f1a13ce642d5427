# SPDX-License-Identifier: Apache-2.0
"""Which options libNVVM takes."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["check_nvvm_compiler_options"]

_LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64"
    "-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)
_PROGRAM = """target datalayout = "{}"
target triple = "nvptx64-nvidia-cuda"
define void @f() {{
  ret void
}}
!nvvmir.version = !{{!0}}
!0 = !{{i32 {}, i32 {}, i32 {}, i32 {}}}
"""


def check_nvvm_compiler_options(options: Sequence[str]) -> bool:
    """Whether the installed libNVVM takes all the options; False where there is none.

    A program of one empty function is compiled with them. Errors other than those of an option
    are raised.
    """
    from ...pathfinder import DynamicLibNotFoundError
    from .. import nvvm

    try:
        program = nvvm.create_program()
    except DynamicLibNotFoundError:
        return False
    try:
        text = _PROGRAM.format(_LAYOUT, *nvvm.ir_version()).encode()
        nvvm.add_module_to_program(program, text, len(text), "options")
        nvvm.compile_program(program, len(options), options)
    except nvvm.nvvmError as error:
        if error.status != nvvm.Result.ERROR_INVALID_OPTION:
            raise
        return False
    finally:
        nvvm.destroy_program(program)
    return True
