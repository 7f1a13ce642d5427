# SPDX-License-Identifier: Apache-2.0
# What the stubs of the binding modules share.
from typing import Any, SupportsInt, TypeAlias

from typing_extensions import Buffer

from ._errors import CUDAError as CUDAError
from ._errors import nvJitLinkError as nvJitLinkError
from ._errors import nvvmError as nvvmError

Pointer: TypeAlias = int | Buffer | SupportsInt | None
Text: TypeAlias = bytes | str | None
KernelParams: TypeAlias = int | Buffer | tuple[tuple[Any, ...], tuple[Any, ...]] | None

class Handle:
    def __init__(self, init_value: SupportsInt = 0, _ptr: int = 0) -> None: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def getPtr(self) -> int: ...

class Record:
    def __init__(self, _ptr: int = 0, **fields: Any) -> None: ...
    def getPtr(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
