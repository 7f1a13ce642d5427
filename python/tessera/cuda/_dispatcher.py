# SPDX-License-Identifier: Apache-2.0
"""What ``@cuda.jit`` makes of a function: launched by ``kernel[blocks, threads](...)``, compiled for the types of its
arguments when it is first launched with them."""

from __future__ import annotations

import types as _types
import warnings
from collections.abc import Callable
from typing import Any

from .. import _core
from .._arguments import bound, parameter_names
from .._errors import KernelError
from .._source import snapshot_of
from . import types
from ._errors import NumbaDebugInfoWarning, NumbaPerformanceWarning, TypingError, raised, translated
from ._forall import ForAll
from ._hints import bounds_hints, hint_rows, parameter_rows
from ._options import IMPLIED, RAISES, Options, options_of
from ._overload import EXACT, NONE, Overload, conversion, reread
from ._signature import Signature, normalize
from ._typeof import typeof

__all__ = ["Dispatcher", "converting", "kernel_around"]

_VARARGS, _VARKEYWORDS = 4, 8  # flags of code objects


class _Extensions(list):  # type: ignore[type-arg]
    """The extensions of a kernel: from the first one on, its launches prepare their arguments in Python."""

    def __init__(self, kernel: Dispatcher, given: Any) -> None:
        super().__init__(given)
        self._kernel = kernel

    def append(self, extension: Any) -> None:
        self.insert(len(self), extension)

    def extend(self, extensions: Any) -> None:
        for extension in extensions:
            self.append(extension)

    def insert(self, at: Any, extension: Any) -> None:
        super().insert(at, extension)
        self._kernel._hooked = True


class Dispatcher(_core.ThreadKernel):  # type: ignore[misc]
    """A kernel, or with ``device=True`` a function for kernels.

    ``k[blocks, threads]``, ``k[blocks, threads, stream]``, ``k[blocks, threads, stream, bytes of dynamic shared
    memory]``, ``k[..., cluster]`` give what is called with the arguments; blocks and threads are ints or tuples of up
    to three. Arguments may be named; those with defaults may be left out.
    """

    def __new__(cls, py_func: Any, options: Options, source: str | None = None) -> Dispatcher:
        made: Dispatcher = super().__new__(cls)
        return made

    def __init__(self, py_func: Any, options: Options, source: str | None = None) -> None:
        self.py_func, self.options = py_func, options
        self.targetoptions: dict[str, Any] = options._asdict()
        self.extensions = _Extensions(self, options.extensions)
        self.overloads: dict[tuple[types.Type, ...], Overload] = {}
        self.specializations: dict[Any, Dispatcher] = {}
        self.specialized = False
        self._can_compile = True
        self._called = 0  # compiled as a function that other code calls (see _compile.py)
        self._on_specialised: Callable[[Any], object] | None = None
        self._on_packed: Callable[[], object] | None = None
        self._pack: Any = None
        self._id: bytes | None = None  # stands for the pack where code is kept (`id` of ts_source)
        self._latest: Dispatcher | None = None  # what recompile() made: launches go to it
        self._compile_hook: Callable[..., Any] | None = None
        self._by_config: dict[Any, Dispatcher] | None = None  # where code depends on the configuration of its launch
        self._snapshot = snapshot_of(py_func, source)
        self._hooked = bool(self.extensions)
        self._waits = bool(options.checked)
        self._has_tiers = False  # see src/run/tier.c
        self.__name__, self.__qualname__ = py_func.__name__, py_func.__qualname__
        self.__doc__, self.__module__ = py_func.__doc__, py_func.__module__
        self.__wrapped__ = py_func
        self.__tessera_helper__ = py_func  # what kernels that call it compile
        self.__defaults__ = py_func.__defaults__

    # ---- the source

    def _prepare(self) -> Any:
        """What the C side needs to launch: name, file, pack, parameter rows, hints, host; an id, if it has one (see
        ext/kernel.c)."""
        if self.options.device:
            raise RuntimeError(
                f"Cannot compile a device function as a kernel: '{self.__name__}' is called by kernels; leave out "
                "device=True for one that is launched"
            )
        packed = self._packed()
        return packed if self._id is None else (*packed, self._id)

    def _packed(self) -> Any:
        code, snapshot = self.py_func.__code__, self._snapshot
        if self._pack is None:
            from .._pack import pack_kernel

            if self.options.debug or self.options.lineinfo:
                self._look_for_source()
            checked = self.options.checked
            raises, unbound = bool(checked & RAISES), bool(checked & IMPLIED)
            pack, host = pack_kernel(self.py_func, snapshot, "thread", raises, unbound)
            if self.options.link or host.packer.links:
                from ._linking import all_links
                from ._loaded import hook_of

                host.links = all_links((*self.options.link, *host.packer.links))
                host.on_loaded = hook_of(self, host.links)
            self._pack = pack, host
            self._snapshot = None
            if self._on_packed is not None:
                self._on_packed()
        if code.co_flags & (_VARARGS | _VARKEYWORDS):
            raise TypingError(f"kernel '{self.__name__}' cannot take *args or **kwargs; take a tuple")
        pack, host = self._pack
        self._adds = bool(host.captured)
        named = (f"array {i} that it names" for i in range(len(host.captured)))
        rows = parameter_rows((*parameter_names(self.py_func), *named))
        return self.__name__, code.co_filename, pack, rows, self._hints(), host

    def _look_for_source(self) -> None:
        """Lines are of use where the file is there."""
        import inspect

        try:
            inspect.getsourcelines(self.py_func)
        except OSError:
            text = f"Could not find source for function: {self.py_func}. Debug line information may be inaccurate."
            warnings.warn(NumbaDebugInfoWarning(text), stacklevel=2)

    def _hints(self) -> Any:
        given = {
            "opt_level": _core.OPT_LEVEL if self.options.opt else 1,  # 0 would be what is not said
            "checked": self.options.checked,
            "fastmath": int(self.options.fastmath),
            "lines": 2 if self.options.debug else int(self.options.lineinfo),
            "max_registers": self.options.max_registers or 0,
            "carveout": 0 if self.options.shared_memory_carveout is None else self.options.shared_memory_carveout + 2,
            "function": self._called,
            "tiers": int(self._has_tiers),
            **bounds_hints(self.options.launch_bounds),
        }
        return hint_rows(given)

    def _failed(self, error: BaseException) -> BaseException:
        """What a launch raises for ``error``; called by ext/threads.c."""
        if isinstance(error, KernelError) and error.failure is not None and error.failure.thread is not None:
            return raised(error, self._pack[1])
        host = self._pack[1] if self._pack else None
        if host is not None and host.failure is not None:
            failure, host.failure = host.failure, None
            return failure  # type: ignore[no-any-return]
        return translated(error)

    def _wait_for(self, stream: Any) -> None:
        """Waits for a stream that has launches of this kernel; raises what a thread of them raised."""
        from ..core import Device

        try:
            (stream or Device().default_stream).sync()
        except KernelError as error:
            raise self._failed(error) from error.__cause__

    # ---- launching

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0, cluster: Any = None) -> Any:
        """What ``kernel[griddim, blockdim, stream, sharedmem, cluster]`` gives; it can be kept and called often."""
        return self[griddim, blockdim, stream, sharedmem, cluster]

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
        """A launch of at least ``ntasks`` threads along x: ``kernel.forall(n)(x, y)``. The kernel must check its index.

        Parameters
        ----------
        ntasks : int
        tpb : int
            Threads of a block; 0: chosen.
        stream, sharedmem
            As in ``kernel[...]``.
        """
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            f"launch configuration was not specified: run kernel '{self.__name__}' with "
            f"{self.__name__}[blocks, threads](...)"
            if not self.options.device
            else f"launch configuration was not specified: '{self.__name__}' is a device function, which kernels call"
        )

    def _complete(self, args: Any, named: Any) -> tuple[Any, ...]:
        """A value for each parameter, in order; called by ext/kernel.c where something is named or missing."""
        captured = self._pack[1].captured if self._pack else ()
        code = self.py_func.__code__
        whole = not named and not code.co_kwonlyargcount and len(args) == code.co_argcount
        return (*(args if whole else bound(self.py_func, args, named or {})), *captured)

    def _given(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Without the arrays that the kernel names."""
        return args[: len(args) - len(self._pack[1].captured)] if self._adds else args

    def _has_keyword_only(self) -> bool:
        return bool(self.py_func.__code__.co_kwonlyargcount)

    def _launch(self, launch: Any, args: tuple[Any, ...]) -> None:
        """A launch whose arguments want Python; called by ext/threads.c."""
        from ._arguments import prepared

        device = _device_of_stream(launch.stream)
        passed, back = prepared(args, device, tuple(self.extensions), launch.stream)
        run = launch.run
        if self._compile_hook is not None and self._typed(args) not in self.overloads:
            launch._within(self._compile_hook, self._given(args))
        kernel: Any = self._latest
        if not self._can_compile:
            found = self._typed(passed)
            kernel = self._best(found)
            passed = (*map(reread, passed, found, kernel.argtypes), *passed[len(found) :])
        if self._by_config is not None:
            kernel = self._for_config(launch)
        if kernel is not None:
            run = _core.ThreadLaunch(
                kernel, launch.griddim, launch.blockdim, launch.stream, launch.sharedmem, launch.cluster
            ).run
        run(*passed)
        if back:
            self._wait_after(launch.stream)
        for copy in back:
            copy()

    def _wait_after(self, stream: Any) -> None:
        """Waits for a launch, whose thread may have failed where nothing else is reported: recursion too deep."""
        try:
            _wait(stream)
        except KernelError as error:
            if error.failure is None or error.failure.object:  # of another kernel, perhaps
                raise
            raise self._failed(error) from error

    def _async_call(self, launch: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A launch that is awaited; called by ext/threads.c."""
        from ._auto import awaited

        return awaited(self, launch, args, named)

    def _small_grid(self, blocks: int) -> None:
        """The first configuration of few blocks; called by ext/threads.c."""
        from . import config

        if config.CUDA_LOW_OCCUPANCY_WARNINGS and not config.DISABLE_PERFORMANCE_WARNINGS and blocks:
            text = f"Grid size {blocks} will likely result in GPU under-utilization due to low occupancy."
            warnings.warn(NumbaPerformanceWarning(text), stacklevel=2)

    def _specialised(self, launch: Any, args: tuple[Any, ...]) -> None:
        """The first launch of code for these arguments is under way; called by ext/threads.c."""
        found = self._typed(args)
        if found not in self.overloads:
            self.overloads[found] = Overload(self, found)
        self.overloads[found].launch_config_sensitive |= self._by_config is not None
        if self._on_specialised is not None:
            self._on_specialised(launch)

    def _typed(self, args: tuple[Any, ...]) -> tuple[types.Type, ...]:
        return tuple(typeof(arg) for arg in self._given(args))

    def mark_launch_config_sensitive(self) -> None:
        """Says that the code depends on the configuration that it is launched with: each has code of its own."""
        if self._by_config is None:
            self._by_config, self._hooked = {}, True

    def _for_config(self, launch: Any) -> Dispatcher:
        key = launch.griddim, launch.blockdim, launch.sharedmem, launch.cluster
        assert self._by_config is not None
        made = self._by_config.get(key)
        if made is None:
            made = self._by_config[key] = Dispatcher(self.py_func, self.options)
            made.mark_launch_config_sensitive = lambda: None  # type: ignore[method-assign]
        return made

    @property
    def _compile_for_args(self) -> Callable[..., Any]:
        """Called with the arguments of a launch whose types have no code yet; gives the overload."""
        return self._compile_hook or _types.MethodType(Dispatcher._compiled_for, self)

    @_compile_for_args.setter
    def _compile_for_args(self, hook: Callable[..., Any]) -> None:
        self._compile_hook, self._hooked = hook, True

    def _compiled_for(self, *args: Any, **named: Any) -> Overload:
        found = self._typed(self._complete(args, named))
        overload = self.overloads.get(found) or self.compile(found)
        overload.launch_config_sensitive |= self._by_config is not None
        return overload

    def _best(self, found: tuple[types.Type, ...]) -> Overload:
        """The overload of explicit signatures for arguments of these types."""
        exact = self.overloads.get(found)
        if exact is not None:
            return exact
        ranked = []
        for wanted, overload in self.overloads.items():
            if len(wanted) != len(found):
                continue
            how = [conversion(f, w) for f, w in zip(found, wanted)]
            if NONE not in how:
                ranked.append((sorted((h for h in how if h != EXACT), reverse=True), overload))
        if not ranked:
            raise TypeError(
                f"No matching definition for argument type(s) {', '.join(map(str, found))} of kernel "
                f"'{self.__name__}'; it was compiled for {'; '.join(str(o.signature) for o in self.overloads.values())}"
            )
        least = min(rank for rank, _ in ranked)
        best = [overload for rank, overload in ranked if rank == least]
        if len(best) > 1:
            listed = "\n".join(f"{o.argtypes!r} -> none" for o in best)
            raise TypeError(f"Ambiguous overloading for {self.py_func} {found}:\n{listed}")
        return best[0]

    # ---- compiling

    def compile(self, sig: Any) -> Overload:
        """Compiles for a signature now."""
        args = normalize(sig).args
        known = self.overloads.get(args)
        if known is None:
            if not self._can_compile:
                raise RuntimeError("Compilation disabled")
            self._check_count(args)
            known = Overload(self, args)
            if not self.options.device:
                known.bind()
            self.overloads[args] = known
        return known

    def _check_count(self, args: tuple[types.Type, ...]) -> None:
        takes = len(parameter_names(self.py_func))
        if len(args) != takes and not self.py_func.__code__.co_flags & _VARARGS:
            raise TypeError(
                f"the signature of '{self.__name__}' has {len(args)} arguments, but the function takes {takes}"
            )

    def compile_device(self, args: Any, return_type: Any = None) -> Overload:
        """Compiles as a function for kernels."""
        return self.compile(tuple(args))

    def _compile_signatures(self, signatures: list[Any]) -> None:
        """What ``cuda.jit(signatures)`` does."""
        for given in signatures:
            sig = normalize(given)
            if not self.options.device and sig.return_type not in (None, types.void):
                raise TypeError(f"CUDA kernel must have void return type, but the signature returns {sig.return_type}")
            self.compile(sig)
        if self.options.device:
            if len(signatures) == 1:
                self.__tessera_helper__ = converting(self.py_func, normalize(signatures[0]))
            return
        self.disable_compile()
        self.specialized = len(signatures) == 1

    def disable_compile(self, val: bool = True) -> None:
        """No other types are compiled from now on: arguments are converted to those that are."""
        self._can_compile = not val
        self._hooked = val or bool(self.extensions)

    def recompile(self) -> None:
        """Compiles the function anew for all its signatures, with the globals it sees now."""
        known, specialized, can_compile = list(self.overloads), self.specialized, self._can_compile
        again = Dispatcher(self.py_func, self.options)
        again._packed()
        self.__dict__.update(again.__dict__)
        self._latest, self._hooked, self._adds = again, True, again._adds
        self.extensions = _Extensions(self, again.extensions)
        self.specialized, self._can_compile = specialized, can_compile
        for args in known:
            self.overloads[args] = Overload(self, args)

    def specialize(self, *args: Any) -> Dispatcher:
        """The kernel for the types of these arguments (types or values) alone."""
        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        found = tuple(a if isinstance(a, types.Type) else typeof(a) for a in args)
        from .._core import _current_device

        key = _current_device(), found
        made = self.specializations.get(key)
        if made is None:
            made = Dispatcher(self.py_func, self.options)
            made._compile_signatures([Signature(None, found)])
            made.specialized = True
            self.specializations[key] = made
        return made

    # ---- what was compiled

    @property
    def signatures(self) -> list[tuple[types.Type, ...]]:
        """The argument types it was compiled for."""
        return list(self.overloads)

    nopython_signatures = property(lambda self: [o.signature for o in self.overloads.values()])
    _compiling_counter = 0

    def _of(self, signature: Any, read: Callable[[Overload], Any]) -> Any:
        """Of one signature, of the only one of a specialised kernel, else a dictionary of all."""
        if signature is not None:
            return read(self._known(signature))
        if self.specialized:
            return read(next(iter(self.overloads.values())))
        return {args: read(overload) for args, overload in self.overloads.items()}

    def _known(self, signature: Any) -> Overload:
        args = normalize(signature).args
        if args not in self.overloads:
            raise KeyError(f"kernel '{self.__name__}' was not compiled for {args}; it was for {self.signatures}")
        return self.overloads[args]

    def inspect_ir(self, signature: Any = None) -> Any:
        """The kernel in Tessera's IR, by signature."""
        return self._all(signature, Overload.inspect_ir)

    def inspect_asm(self, signature: Any = None) -> Any:
        """PTX, by signature."""
        return self._all(signature, Overload.inspect_asm)

    def inspect_cpu(self, signature: Any = None, blockdim: Any = 256) -> Any:
        """What the CPU device makes of the kernel, by signature: see Notes.

        Parameters
        ----------
        signature : signature, optional
            One that it was compiled for; None: a dictionary of all.
        blockdim : int or tuple of int
            Threads of a block, for which code of a CPU is made.

        Notes
        -----
        The text has a line for each decision. ``threads``: ``warps`` (32 at a time, each value a vector), ``block``
        (all at once, the slow way) or ``single`` (blocks of one thread, as C's loops). ``load`` and ``store``:
        ``vector`` (neighbours), ``strided`` (elements a few apart), ``uniform`` (one element for all), ``table``,
        ``gather`` and ``scatter`` (elements apart), ``scalar``. Where a place has two, the compiler made two copies.
        """
        return self._all(signature, lambda overload: overload.inspect_cpu(blockdim))

    def inspect_lto_ptx(self, signature: Any = None) -> Any:
        """As ``inspect_asm``: there is no separate linking step."""
        return self.inspect_asm(signature)

    def inspect_llvm(self, signature: Any = None) -> Any:
        """Raises NotImplementedError: see ``inspect_ir``."""
        raise NotImplementedError("kernels are not compiled through LLVM IR; inspect_ir() gives Tessera's IR")

    def inspect_sass(self, signature: Any = None) -> Any:
        """Machine code as text; needs nvdisasm and ptxas."""
        if self.options.device:
            raise RuntimeError("Cannot inspect SASS of a device function")
        from ._sass import sass_of

        return self._all(signature, lambda overload: sass_of(overload.ptx))

    inspect_sass_cfg = inspect_sass

    def inspect_types(self, file: Any = None) -> None:
        """Prints the signatures, the types of the kernel's variables and its IR."""
        for args, overload in self.overloads.items():
            print(f"{self.__name__} {args}", file=file)
            print("-" * 80, file=file)
            print(overload._type_annotation, file=file)
            print(overload.inspect_ir(), file=file)
            print("=" * 80, file=file)

    def _all(self, signature: Any, read: Callable[[Overload], Any]) -> Any:
        if signature is not None:
            return read(self._known(signature))
        return {args: read(overload) for args, overload in self.overloads.items()}

    def _attribute(self, name: str, signature: Any) -> Any:
        from ._facts import fact_of

        return self._of(signature, lambda overload: fact_of(overload, name))

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Registers of a thread."""
        return self._attribute("regs_per_thread", signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """Bytes of constant memory, and of arrays and texts that are compiled in."""
        return self._attribute("const_mem_size", signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Bytes of static shared memory."""
        return self._attribute("shared_mem_per_block", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """The most threads of a block."""
        return self._attribute("max_threads_per_block", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Bytes of local memory of a thread."""
        return self._attribute("local_mem_per_thread", signature)

    @property
    def stats(self) -> Any:
        """Where code came from: ``cache_path``, ``cache_hits`` and ``cache_misses``."""
        from ._facts import stats_of

        return stats_of(self)

    # ---- as an object

    def __get__(self, obj: Any, objtype: Any = None) -> Any:
        """A function of a class: a method for kernels that call it."""
        return self if obj is None else _types.MethodType(self, obj)

    def __reduce__(self) -> Any:
        from ._pickle import reduced

        return reduced(self)

    def __repr__(self) -> str:
        return f"<{'device function' if self.options.device else 'kernel'} {self.__qualname__}>"


def kernel_around(function: Any, options: Options, source: str | None = None, own_grid: bool = False) -> Dispatcher:
    """A kernel of Tessera's that calls a function of the user's for its value. What that raises is heard of where the
    results are waited for. ``own_grid``: Tessera chooses the grid, and its first launches may run code that is quickly
    made."""
    made = Dispatcher(function, options._replace(checked=options.checked | RAISES), source)
    made._waits = bool(options.checked)
    if own_grid:
        made._small_grid, made._has_tiers = _unsaid, True
    return made


def kernel_of(function: Any, source: str) -> Dispatcher:
    """A kernel of Tessera's own, which chooses its grid."""
    made = Dispatcher(function, options_of({}), source)
    made._small_grid = _unsaid
    return made


def _unsaid(blocks: int) -> None:
    """Nothing to warn the user about, who has not chosen the grid."""


def converting(function: Any, sig: Signature) -> Any:
    """A function that converts numbers to the types of a signature, and the result: what kernels call of
    ``@cuda.jit("int32(int32)", device=True)``."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    space: dict[str, Any] = {"function_": function, "result_": sig.return_type}
    given = []
    for i, (name, type_) in enumerate(zip(names, sig.args)):
        space[f"type{i}_"] = type_
        given.append(f"type{i}_({name})" if isinstance(type_, types.Number) else name)
    call = f"function_({', '.join(given)})"
    back = f"result_({call})" if isinstance(sig.return_type, types.Number) else call
    text = f"def {code.co_name}({', '.join(names)}):\n    {'' if sig.return_type == types.void else 'return '}{back}\n"
    if not code.co_name.isidentifier() or code.co_flags & (_VARARGS | _VARKEYWORDS) or code.co_kwonlyargcount:
        return function
    exec(compile(text, f"<{code.co_name} of {sig}>", "exec"), space)
    made = space[code.co_name]
    made.__defaults__ = function.__defaults__
    return made


def _device_of_stream(stream: Any) -> int:
    """The number of the device that a launch goes to."""
    number = getattr(stream, "_device", None)
    return _core._current_device() if number is None else int(number)


def _wait(stream: Any) -> None:
    if hasattr(stream, "synchronize"):
        stream.synchronize()
    else:
        _core.synchronize("cpu" if _core._current_device() < _core.DEVICE_CUDA else None)
