# SPDX-License-Identifier: Apache-2.0
"""Modules and their functions, and how Python values become the arguments of a kernel.

Every argument is (value, ctypes type) or an object with ``getPtr``, as ``tessera.bindings`` takes
them. Where the driver tells the sizes of a kernel's parameters (CUDA 12.4), number and sizes are
checked before the launch.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..bindings import FunctionNotFoundError, driver
from ._call import CompileError, Error, LogicError, cu
from ._context import Context, stream_handle
from ._copy import memcpy_dtoh, memcpy_dtoh_async, memcpy_htod, memcpy_htod_async
from ._enums import names
from ._memory import ManagedAllocation, PointerHolderBase, mem_alloc

__all__ = [
    "ArgumentHandler", "Function", "In", "InOut", "Module", "Out", "module_from_buffer",
    "module_from_file",
]  # fmt: skip

# Characters of numpy's dtypes and of the struct module -> how the bindings pass them.
_SCALARS = {
    "?": ctypes.c_bool, "b": ctypes.c_byte, "B": ctypes.c_ubyte, "h": ctypes.c_short,
    "H": ctypes.c_ushort, "i": ctypes.c_int, "I": ctypes.c_uint, "l": ctypes.c_long,
    "L": ctypes.c_ulong, "q": ctypes.c_longlong, "Q": ctypes.c_ulonglong, "f": ctypes.c_float,
    "d": ctypes.c_double, "P": ctypes.c_void_p, "p": ctypes.c_ssize_t, "n": ctypes.c_ssize_t,
    "N": ctypes.c_size_t,
}  # fmt: skip
Argument = tuple[Any, Any]


class _Bytes:
    """A value passed by the address of a copy of it: structs, complex numbers, half precision."""

    __slots__ = ("data", "size")

    def __init__(self, array: Any) -> None:
        self.data = np.array(array)  # a copy: the caller's may change before the launch
        self.size = self.data.nbytes

    def getPtr(self) -> int:  # noqa: N802
        return int(self.data.__array_interface__["data"][0])


class ArgumentHandler:
    """An array of the host that is copied round a launch: ``In``, ``Out``, ``InOut``."""

    copies_in = copies_out = False

    def __init__(self, array: Any) -> None:
        if not hasattr(array, "nbytes"):
            raise TypeError(
                f"{type(self).__name__}() takes an array of the host, not a "
                f"{type(array).__name__}; use np.asarray(...)"
            )
        self.array = array
        self.memory: Any = None

    def before(self, stream: Any) -> int:
        """Makes room on the device and copies there; the address."""
        self.memory = mem_alloc(max(1, self.array.nbytes))
        if self.copies_in and stream is None:
            memcpy_htod(self.memory, self.array)
        elif self.copies_in:
            memcpy_htod_async(self.memory, self.array, stream)
        return int(self.memory)

    def after(self, stream: Any) -> None:
        """Copies back."""
        if self.copies_out and stream is None:
            memcpy_dtoh(self.array, self.memory)
        elif self.copies_out:
            memcpy_dtoh_async(self.array, self.memory, stream)


class In(ArgumentHandler):
    """Copied to the device before the launch."""

    copies_in = True


class Out(ArgumentHandler):
    """Copied back after the launch."""

    copies_out = True


class InOut(In, Out):
    """Copied both ways."""


def _is_pointer(value: Any) -> bool:
    return isinstance(value, PointerHolderBase) or (
        hasattr(value, "__cuda_array_interface__") or hasattr(value, "gpudata")
    )


def pointer(value: Any) -> int:
    """The device address that an object stands for."""
    data = getattr(value, "gpudata", None)
    if data is not None:
        return int(data)
    interface = getattr(value, "__cuda_array_interface__", None)
    return int(interface["data"][0] if interface else value)


def _argument(value: Any, index: int) -> Argument:
    if isinstance(value, np.generic):
        type_ = _SCALARS.get(value.dtype.char)
        return (value.item(), type_) if type_ else (_Bytes(value), None)
    if _is_pointer(value):
        return pointer(value), ctypes.c_void_p
    if isinstance(value, np.ndarray):
        owner = value.base
        while isinstance(owner, np.ndarray):
            owner = owner.base
        if isinstance(owner, ManagedAllocation):
            return value.__array_interface__["data"][0], ctypes.c_void_p
        return _Bytes(value), None
    raise TypeError(
        f"invalid type on parameter #{index} (0-based): {type(value).__name__}; give numpy scalars "
        "(numpy.int32(n)), device memory, GPUArrays, or arrays in In, Out and InOut"
    )


def _sizes(argument: Argument) -> int:
    value, type_ = argument
    return int(value.size) if type_ is None else ctypes.sizeof(type_)


def _converter(kind: Any) -> Callable[[Any], Argument]:
    """How ``prepare`` passes one argument of a struct character, dtype or numpy class."""
    if isinstance(kind, str) and kind in _SCALARS:
        if kind == "P":
            return lambda value: (pointer(value), ctypes.c_void_p)
        type_, number = _SCALARS[kind], float if kind in "fd" else int
        return lambda value: (number(value), type_)
    try:
        dtype = np.dtype(kind)
    except TypeError:
        raise TypeError(f"prepare() does not know the argument type {kind!r}") from None
    if dtype.char in _SCALARS:
        type_ = _SCALARS[dtype.char]
        return lambda value: (dtype.type(value).item(), type_)
    return lambda value: (_Bytes(np.asarray(value, dtype)), None)


def _dims(value: Any, what: str) -> tuple[int, int, int]:
    dims = tuple(int(n) for n in value)
    if not 1 <= len(dims) <= 3:
        raise ValueError(f"{what} must have 1 to 3 numbers, not {value!r}")
    return (*dims, 1, 1)[:3]  # type: ignore[return-value]


class Function:
    """A kernel of a module: ``f(*args, block=(256, 1, 1), grid=(n, 1))``."""

    def __init__(self, handle: int, module: Module, name: str) -> None:
        self.handle, self.module, self._name = handle, module, name
        self._parameters: list[int] | None = None
        self._converters: list[Callable[[Any], Argument]] | None = None
        self._texrefs: Sequence[Any] = ()

    def __int__(self) -> int:
        return self.handle

    # ---- attributes

    def get_attribute(self, attr: Any) -> int:
        """The value of a ``function_attribute``."""
        return int(cu.cuFuncGetAttribute(attr, self.handle))

    def set_attribute(self, attr: Any, value: int) -> None:
        """Sets a ``function_attribute``, as MAX_DYNAMIC_SHARED_SIZE_BYTES."""
        cu.cuFuncSetAttribute(self.handle, attr, value)

    def set_cache_config(self, fc: Any) -> None:
        """Prefers L1 or shared memory."""
        cu.cuFuncSetCacheConfig(self.handle, fc)

    def set_shared_config(self, sc: Any) -> None:
        """Sets the width of shared-memory banks."""
        cu.cuFuncSetSharedMemConfig(self.handle, sc)

    def __getattr__(self, name: str) -> int:
        """``num_regs``, ``local_size_bytes``, ``shared_size_bytes``, ..."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self.get_attribute(getattr(names["function_attribute"], name.upper()))

    # ---- launches

    def _check(self, arguments: Sequence[Argument]) -> None:
        if self._parameters is None:
            self._parameters = _parameter_sizes(self.handle)
        given = [_sizes(argument) for argument in arguments]
        if self._parameters == given or self._parameters == [-1]:
            return
        if len(given) != len(self._parameters):
            raise LogicError(
                f"{self._name} takes {len(self._parameters)} arguments, not {len(given)}"
            )
        pairs = zip(self._parameters, given, strict=True)
        i, (wanted, got) = next((i, p) for i, p in enumerate(pairs) if p[0] != p[1])
        raise LogicError(
            f"{self._name}: parameter #{i} (0-based) has {wanted} bytes, the argument has {got}"
        )

    def _launch(
        self, arguments: Sequence[Argument], grid: Any, block: Any, shared: int, stream: Any
    ) -> None:
        self._check(arguments)
        params = tuple(zip(*arguments, strict=True)) if arguments else 0
        cu.cuLaunchKernel(
            self.handle, *_dims(grid, "grid"), *_dims(block, "block"), shared,
            stream_handle(stream), params, 0,
        )  # fmt: skip

    def __call__(
        self, *args: Any, block: Any = None, grid: Any = (1, 1), stream: Any = None,
        shared: int = 0, texrefs: Sequence[Any] = (), time_kernel: bool = False,
    ) -> float | None:  # fmt: skip
        """Launches; gives the seconds it took where `time_kernel` asks for them."""
        if block is None:
            raise ValueError("the block's size must be given: block=(x, y, z)")
        handlers = [arg for arg in args if isinstance(arg, ArgumentHandler)]
        arguments = [
            (arg.before(stream), ctypes.c_void_p)
            if isinstance(arg, ArgumentHandler)
            else _argument(arg, i)
            for i, arg in enumerate(args)
        ]
        self._bind(texrefs, stream)
        began = self._start(stream) if time_kernel else None
        self._launch(arguments, grid, block, shared, stream)
        elapsed = None if began is None else self._stop(stream) - began
        for handler in handlers:
            handler.after(stream)
        return elapsed

    @staticmethod
    def _start(stream: Any) -> float:
        cu.cuStreamSynchronize(stream_handle(stream))
        return time.perf_counter()

    _stop = _start  # waits for the launch

    def _bind(self, texrefs: Sequence[Any], stream: Any) -> None:
        for reference in (*texrefs, *self.module._references.values()):
            reference._store(stream)

    def prepare(self, arg_types: Any, block: Any = None, texrefs: Sequence[Any] = ()) -> Function:
        """Says the types of the arguments once: characters as ``"PPi"``, or a list of dtypes."""
        if block is not None:
            raise LogicError("the block's size is an argument of prepared_call()")
        self._converters = [_converter(kind) for kind in arg_types]
        self._texrefs = tuple(texrefs)
        return self

    def _prepared(self, args: Sequence[Any], stream: Any) -> list[Argument]:
        if self._converters is None:
            raise LogicError(f"{self._name}: prepare() must come before a prepared call")
        if len(args) != len(self._converters):
            raise LogicError(f"{self._name} was prepared for {len(self._converters)} arguments")
        self._bind(self._texrefs, stream)
        return [convert(arg) for convert, arg in zip(self._converters, args, strict=True)]

    def prepared_call(self, grid: Any, block: Any, *args: Any, shared_size: int = 0) -> None:
        """Launches on the default stream."""
        self.prepared_async_call(grid, block, None, *args, shared_size=shared_size)

    def prepared_async_call(
        self, grid: Any, block: Any, stream: Any, *args: Any, shared_size: int = 0
    ) -> None:
        """Launches on a stream."""
        self._launch(self._prepared(args, stream), grid, block, shared_size, stream)

    def prepared_timed_call(
        self, grid: Any, block: Any, *args: Any, shared_size: int = 0
    ) -> Callable[[], float]:
        """Launches; the function it gives waits and says the seconds."""
        from ._context import Event

        arguments, begin, end = self._prepared(args, None), Event(), Event()
        begin.record()
        self._launch(arguments, grid, block, shared_size, None)
        end.record()

        def seconds() -> float:
            end.synchronize()
            return end.time_since(begin) * 1e-3

        return seconds


def _parameter_sizes(handle: int) -> list[int]:
    """Bytes of each parameter of a kernel; [-1] where the driver is too old to tell."""
    sizes: list[int] = []
    while True:
        try:
            _, size = cu.cuFuncGetParamInfo(handle, len(sizes))
        except FunctionNotFoundError:
            return [-1]
        except LogicError as error:  # there is no parameter of this number
            if error.code == driver.CUresult.CUDA_ERROR_INVALID_VALUE:
                return sizes
            raise
        sizes.append(int(size))


# ---- modules -------------------------------------------------------------------------------------


class Module:
    """Code that is loaded into the current context; it goes when the object and its functions do."""

    def __init__(self, handle: int) -> None:
        self.handle, self._context = handle, Context.get_current()
        self._references: dict[str, Any] = {}

    def get_function(self, name: str) -> Function:
        """A kernel by its name, the mangled one unless it is ``extern "C"``."""
        return Function(int(cu.cuModuleGetFunction(self.handle, name.encode())), self, name)

    def get_global(self, name: str) -> tuple[int, int]:
        """(address, bytes) of a ``__device__`` or ``__constant__`` variable."""
        address, size = cu.cuModuleGetGlobal(self.handle, name.encode())
        return int(address), int(size)

    def get_texref(self, name: str) -> Any:
        """A ``texture<...>`` variable of the source; see docs/guide/from-pycuda.md."""
        from ._texture import TextureReference

        return self._reference(name, TextureReference)

    def get_surfref(self, name: str) -> Any:
        """A ``surface<...>`` variable of the source."""
        from ._texture import SurfaceReference

        return self._reference(name, SurfaceReference)

    def _reference(self, name: str, class_: Any) -> Any:
        if name not in self._references:
            self._references[name] = class_(self.get_global(name)[0])
        return self._references[name]

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at exit the driver may be gone before the object
            with self._context._current() as is_alive:
                if is_alive:
                    cu.cuModuleUnload(self.handle)


def module_from_buffer(
    buffer: Any, options: Sequence[tuple[Any, Any]] = (), message_handler: Any = None
) -> Module:
    """Loads cubin, fatbin or PTX. `options` are pairs of ``jit_option`` and value.

    ``message_handler(compiled, info, errors)`` is called with what the driver's compiler said.
    """
    option, logs = driver.CUjit_option, [bytearray(32768), bytearray(32768)]
    pairs = [
        *((getattr(option, "CU_" + k) if isinstance(k, str) else k, int(v)) for k, v in options),
        (option.CU_JIT_INFO_LOG_BUFFER, logs[0]),
        (option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, len(logs[0])),
        (option.CU_JIT_ERROR_LOG_BUFFER, logs[1]),
        (option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, len(logs[1])),
    ]
    image = bytes(buffer) + b"\0"  # PTX ends with a zero
    try:
        handle = cu.cuModuleLoadDataEx(image, len(pairs), *map(list, zip(*pairs, strict=True)))
    except Error as error:
        texts = [log.split(b"\0")[0].decode(errors="replace") for log in logs]
        if message_handler:
            message_handler(False, *texts)
        if not texts[1]:
            raise
        raise CompileError(str(error), "", texts[0], texts[1]) from error
    if message_handler:
        message_handler(True, *(log.split(b"\0")[0].decode(errors="replace") for log in logs))
    return Module(int(handle))


def module_from_file(filename: str) -> Module:
    """Loads a file of cubin, fatbin or PTX."""
    with open(filename, "rb") as file:
        return module_from_buffer(file.read())
