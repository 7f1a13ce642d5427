# Type stubs, by tools/gen_bindings.py. Do not edit.
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, SupportsInt

from ._types import CUDAError, Handle, KernelParams, Pointer, Record, Text
from ._types import nvJitLinkError, nvvmError

class Result(IntEnum):
    SUCCESS = 0
    ERROR_UNRECOGNIZED_OPTION = 1
    ERROR_MISSING_ARCH = 2
    ERROR_INVALID_INPUT = 3
    ERROR_PTX_COMPILE = 4
    ERROR_NVVM_COMPILE = 5
    ERROR_INTERNAL = 6
    ERROR_THREADPOOL = 7
    ERROR_UNRECOGNIZED_INPUT = 8
    ERROR_FINALIZE = 9
    ERROR_NULL_INPUT = 10
    ERROR_INCOMPATIBLE_OPTIONS = 11
    ERROR_INCORRECT_INPUT_TYPE = 12
    ERROR_ARCH_MISMATCH = 13
    ERROR_OUTDATED_LIBRARY = 14
    ERROR_MISSING_FATBIN = 15
    ERROR_UNRECOGNIZED_ARCH = 16
    ERROR_UNSUPPORTED_ARCH = 17
    ERROR_LTO_NOT_ENABLED = 18
class InputType(IntEnum):
    NONE = 0
    CUBIN = 1
    PTX = 2
    LTOIR = 3
    FATBIN = 4
    OBJECT = 5
    LIBRARY = 6
    INDEX = 7
    ANY = 10
def create(num_options: int, options: Sequence[Text] | None) -> int: ...
def destroy(handle: int) -> None: ...
def add_data(handle: int, input_type: InputType, data: Pointer, size: int, name: Text) -> None: ...
def add_file(handle: int, input_type: InputType, file_name: Text) -> None: ...
def complete(handle: int) -> None: ...
def get_linked_cubin_size(handle: int) -> int: ...
def get_linked_cubin(handle: int, cubin: Pointer) -> None: ...
def get_linked_ptx_size(handle: int) -> int: ...
def get_linked_ptx(handle: int, ptx: Pointer) -> None: ...
def get_error_log_size(handle: int) -> int: ...
def get_error_log(handle: int, log: Pointer) -> None: ...
def get_info_log_size(handle: int) -> int: ...
def get_info_log(handle: int, log: Pointer) -> None: ...
def version() -> tuple[int, int]: ...
def get_linked_ltoir_size(handle: int) -> int: ...
def get_linked_ltoir(handle: int, ltoir: Pointer) -> None: ...
