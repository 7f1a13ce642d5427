# SPDX-License-Identifier: Apache-2.0
"""RawKernel, RawModule: CUDA C++ by NVRTC, cubins, fatbins and PTX, on GPUs.

The kernels are those of tessera.core; here are CuPy's conventions: how arguments become values, and when code is
compiled.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy

from .. import core
from ._boundary import Base
from .cuda._device import has_gpu

__all__ = ["RawKernel", "RawModule"]

_LOADERS = {
    ".cubin": "from_cubin",
    ".fatbin": "from_fatbin",
    ".ptx": "from_ptx",
    ".o": "from_object",
    ".ltoir": "from_ltoir",
}


def _needs_gpu(what: str) -> None:
    if not has_gpu():
        raise RuntimeError(
            f"{what} is code for GPUs, and this machine has none; cupy.ElementwiseKernel, cupy.ReductionKernel, "
            f"cupyx.jit.rawkernel and tessera.cuda.jit run on the CPU, too"
        )


def _value(x: Any) -> Any:
    """An argument as tessera.core takes it: arrays by address, numbers by their bytes."""
    if isinstance(x, Base):
        return x._as(Base) if type(x) is not Base else x
    if isinstance(x, (int, float, complex, numpy.generic)):
        return x  # Python's numbers become what the parameter is
    if isinstance(x, numpy.ndarray):
        if x.size != 1:
            raise TypeError(
                f"an array of NumPy's with {x.size} elements is no argument of a kernel; use cupy.asarray(x)"
            )
        return x.reshape(-1)[0]
    return numpy.uint64(x.ptr) if hasattr(x, "ptr") else x


class RawModule:
    """Code for GPUs: a source in CUDA C++, or a file of compiled code.

    Parameters
    ----------
    code : str, optional
        CUDA C++.
    path : str, optional
        A cubin, fatbin or PTX file.
    options : tuple of str
        Of NVRTC.
    backend : str
        "nvrtc"; "nvcc" is taken, too: NVRTC compiles.
    translate_cucomplex : bool
        Accepted: cuComplex.h of the toolkit is used as it is.
    enable_cooperative_groups : bool
        Whether grids wait for themselves.
    name_expressions : sequence of str, optional
        Templates to instantiate: ``"f<float>"``.
    jitify : bool
        Accepted: headers are found without it.

    Raises
    ------
    RuntimeError
        This machine has no GPU (at the first use).
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Any = None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if path is not None and options:
            raise ValueError("Compiler options cannot be specified for precompiled binary.")
        if backend not in ("nvrtc", "nvcc"):
            raise ValueError(f"backend is 'nvrtc' or 'nvcc', found {backend!r}")
        if name_expressions is not None:
            _check_expressions(name_expressions, code, backend)
        self.code, self.file_path, self.options, self.backend = code, path, tuple(options), backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self.name_expressions = tuple(name_expressions or ())
        self._objects: dict[int, Any] = {}
        self._kernels: dict[str, RawKernel] = {}

    def _object(self) -> Any:
        """The code of the current device, compiled when it is first needed."""
        from .cuda._device import Device

        _needs_gpu("a RawModule" if self.code is None else "CUDA C")
        number = Device().id
        if number not in self._objects:
            self._objects[number] = self._made()
        return self._objects[number]

    def _made(self, log_stream: Any = None) -> Any:
        if self.code is None:
            path = pathlib.Path(str(self.file_path))
            loader = _LOADERS.get(path.suffix)
            if loader is None:
                raise ValueError(f"{path.name}: a file ends in {', '.join(_LOADERS)}")
            return getattr(core.ObjectCode, loader)(path.read_bytes())
        flags = [
            word
            for word in self.options
            if not word.startswith(("-std", "--std", "-arch", "--gpu-arch"))
        ]
        standard = [
            word.partition("=")[2] for word in self.options if word.startswith(("-std=", "--std="))
        ]
        options = core.ProgramOptions(
            std=standard[-1] if standard else "c++17", flags=flags or None
        )
        program = core.Program(self.code, "c++", options)
        return program.compile("cubin", name_expressions=self.name_expressions, logs=log_stream)

    def compile(self, log_stream: Any = None) -> None:
        """Compiles now, for the current device; what the compiler says goes to a file."""
        from .cuda._device import Device

        if self.code is None:
            raise RuntimeError("precompiled code is not compiled")
        _needs_gpu("CUDA C")
        self._objects[Device().id] = self._made(log_stream)

    def get_function(self, name: str) -> RawKernel:
        """A kernel by its name, or by its name expression."""
        if name not in self._kernels:
            self._kernels[name] = RawKernel._of(self, name)
        self._kernels[name].kernel  # noqa: B018  a name that is not there is an error here
        return self._kernels[name]

    def get_global(self, name: str) -> Any:
        """The memory of a variable, as a MemoryPointer."""
        from .cuda._memory import MemoryPointer, UnownedMemory

        found = self._object().get_global(name)
        return MemoryPointer(UnownedMemory(int(found.handle), int(found.size), (self, found)), 0)

    def __reduce__(self) -> Any:
        options = {
            "code": self.code, "path": self.file_path, "options": self.options, "backend": self.backend,
            "enable_cooperative_groups": self.enable_cooperative_groups,
            "name_expressions": self.name_expressions or None,
        }  # fmt: skip
        return _module, (options,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RawModule) and self.__reduce__()[1] == other.__reduce__()[1]

    def __hash__(self) -> int:
        return hash((self.code, self.file_path, self.options, self.name_expressions))


def _module(options: dict[str, Any]) -> RawModule:
    return RawModule(**options)


def _check_expressions(names: Any, code: Any, backend: str) -> None:
    if code is None or backend != "nvrtc":
        raise ValueError("name_expressions are for sources, and for the backend nvrtc")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"name_expressions must be strings, found {name!r}")


class RawKernel:
    """A kernel in CUDA C++.

    Parameters
    ----------
    code : str
        CUDA C++ with ``extern "C" __global__ void name(..)``, or a template.
    name : str
    options, backend, translate_cucomplex, enable_cooperative_groups, jitify
        As of :class:`RawModule`.
    """

    _attributes = frozenset(
        "max_threads_per_block shared_size_bytes const_size_bytes local_size_bytes num_regs ptx_version "
        "binary_version cache_mode_ca max_dynamic_shared_size_bytes preferred_shared_memory_carveout".split()
    )

    def __init__(
        self,
        code: str,
        name: str,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        **more: Any,
    ) -> None:
        for value, what in ((code, "code"), (name, "name")):
            if not isinstance(value, str):
                raise TypeError(f"RawKernel: {what} is a str, found a {type(value).__name__}")
        expressions = (name,) if "<" in name else None
        self._set(
            RawModule(
                code=code, options=options, backend=backend, name_expressions=expressions, **more
            ),
            name,
        )

    def _set(self, module: RawModule, name: str) -> None:
        self._module, self.name = module, name
        self._loaded: dict[int, Any] = {}
        self._wanted: dict[str, int] = {}
        self._configs: dict[Any, Any] = {}

    @classmethod
    def _of(cls, module: RawModule, name: str) -> RawKernel:
        self = cls.__new__(cls)
        self._set(module, name)
        return self

    @property
    def kernel(self) -> Any:
        """The kernel of the current device, of tessera.core."""
        from .cuda._device import Device

        _needs_gpu(f"the kernel {self.name!r}")
        number = Device().id
        if number not in self._loaded:
            self._loaded[number] = self._module._object().get_kernel(self.name)
            for attribute, value in self._wanted.items():
                setattr(self._loaded[number].attributes, attribute, value)
        return self._loaded[number]

    @property
    def code(self) -> Any:
        """The source."""
        return self._module.code

    @property
    def options(self) -> tuple[str, ...]:
        """Of the compiler."""
        return self._module.options

    @property
    def backend(self) -> str:
        """ "nvrtc" or "nvcc"."""
        return self._module.backend

    @property
    def file_path(self) -> Any:
        """The file of compiled code."""
        return self._module.file_path

    @property
    def enable_cooperative_groups(self) -> bool:
        """Whether the grid waits for itself."""
        return self._module.enable_cooperative_groups

    def compile(self, log_stream: Any = None) -> None:
        """Compiles now, for the current device."""
        self._module.compile(log_stream)
        self._loaded.clear()
        self.kernel  # noqa: B018

    def __call__(
        self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, stream: Any = None
    ) -> None:
        """Launches.

        Parameters
        ----------
        grid, block : tuple of int
            Blocks of the grid, threads of a block.
        args : tuple
            Arrays are given by their addresses, Python's numbers as what the parameter is, NumPy's scalars as they are.
        shared_mem : int
            Bytes of dynamic shared memory.
        stream : Stream, optional
            The current one.
        """
        from .cuda._stream import before_launch, get_current_stream

        kernel = self.kernel
        order = get_current_stream() if stream is None else stream
        key = grid, block, shared_mem
        config = self._configs.get(key) if type(grid) is tuple and type(block) is tuple else None
        if config is None:
            config = self._config(grid, block, shared_mem)
            if type(grid) is tuple and type(block) is tuple:
                self._configs[key] = config
        values = [_value(x) for x in args]
        before_launch(order)
        core.launch(order._stream, config, kernel, *values)
        order._rejoin()

    def _config(self, grid: Any, block: Any, shared_mem: int) -> Any:
        return core.LaunchConfig(
            grid=_three(grid), block=_three(block), shmem_size=shared_mem,
            is_cooperative=self._module.enable_cooperative_groups,
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name in RawKernel._attributes:
            return getattr(self.kernel.attributes, name)
        raise AttributeError(f"'RawKernel' object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout"):
            self._wanted[name] = value
            setattr(self.kernel.attributes, name, value)
        else:
            object.__setattr__(self, name, value)

    @property
    def attributes(self) -> dict[str, Any]:
        """What the compiler and the driver say about it."""
        return {name: getattr(self, name) for name in sorted(RawKernel._attributes)}

    def __reduce__(self) -> Any:
        return RawKernel._of, (self._module, self.name)


def _three(value: Any) -> tuple[int, ...]:
    given = value if isinstance(value, (tuple, list)) else (value,)
    return tuple(int(n) for n in given)
