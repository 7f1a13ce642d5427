# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels as files."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ... import _core
from ..._arguments import defaults_of
from ..._errors import TileCompilerExecutionError, TileUnsupportedFeatureError
from ._signature import ConstantConstraint, KernelSignature, TupleConstraint, specs_of

FORMATS = ("cubin", "ptx", "tileir_bytecode")
PORTABLE = 80  # code for it takes plain parameters: no tensor maps, which a launch would have to encode


class ExportedKernel(NamedTuple):
    """One function of an exported file, and how the driver launches it.

    Attributes
    ----------
    symbol : str
    threads : int
        Threads of a block, along x.
    shared_bytes : int
        Dynamic shared memory of a block; from 48 KiB on the function's attribute must allow it.
    cluster : int
        Blocks of a cluster; the grid has so many times more blocks along x.
    """

    symbol: str
    threads: int
    shared_bytes: int
    cluster: int


def _is_constant(constraint: Any) -> bool:
    if isinstance(constraint, TupleConstraint):
        return all(_is_constant(x) for x in constraint.items)
    return isinstance(constraint, ConstantConstraint)


def _checked(kernel: Any, rows: tuple[Any, ...], given: KernelSignature) -> KernelSignature:
    """The signature with the defaults of the parameters that it leaves out."""
    defaults = defaults_of(kernel._function)
    rest = [name for name, *_ in rows[len(given.parameters) :]]
    if len(rows) < len(given.parameters) or any(name not in defaults for name in rest):
        raise TypeError(f"kernel '{kernel.__name__}' has {len(rows)} parameters, "
                        f"the signature {len(given.parameters)}")  # fmt: skip
    values = [defaults[name] for name in rest]
    signature = dataclasses.replace(given, parameters=(*given.parameters, *values)) if rest else given
    for (name, flags, *_), constraint in zip(rows, signature.parameters):
        if flags & _core.PARAM_CONSTANT and not _is_constant(constraint):
            raise TypeError(f"kernel '{kernel.__name__}', parameter '{name}': it is annotated Constant, "
                            f"so the signature must give its value, not a {type(constraint).__name__}")  # fmt: skip
    return signature


_BY_PORTABLE = (87, 88, 103, 107, 110, 121)  # GPUs that have no target of their own: they run code for the oldest


def _number(gpu_code: str) -> tuple[int, str]:
    """The target that code for this GPU is made by, and ptxas's name of the GPU."""
    found = re.fullmatch(r"sm_(\d+)[af]?", gpu_code) if isinstance(gpu_code, str) else None
    numbers = sorted(n for n in _core.TARGETS.values() if n >= PORTABLE)
    if not found or int(found[1]) not in (*numbers, *_BY_PORTABLE):
        known = ", ".join(f"sm_{n}" for n in sorted((*numbers, *_BY_PORTABLE)))
        raise ValueError(f"gpu_code {gpu_code!r} is not a GPU that kernels are made for: {known}")
    target = int(found[1]) if int(found[1]) in numbers else PORTABLE
    return target, f"sm_{found[1]}{'a' if target >= 90 else ''}"


def _code(kernel: Any, prepared: Any, specs: bytes, target: int) -> tuple[str, dict[str, Any]]:
    """PTX with plain parameters, and its launch plan."""
    for number in dict.fromkeys((target, PORTABLE)):
        text, plan = _core.compile_plan(prepared, specs, number)
        if not plan["n_tmaps"] and not plan["persistent"] and not plan["error_param"]:
            return text.rstrip(b"\0 \n").decode(), plan
    raise TileUnsupportedFeatureError(
        f"kernel '{kernel.__name__}' cannot be exported: its asserts or checks report to the host through a parameter "
        "that only ct.launch passes; leave out ct.assert_ and checked=True"
    )


def _renamed(text: str, name: str, symbol: str, number: int) -> str:
    """The kernel under its symbol; names of its strings must differ from those of other kernels of the file."""
    text = re.sub(rf"(\.entry ){re.escape(name)}\(", lambda m: f"{m[1]}{symbol}(", text)
    return re.sub(r"\bts(\d+)\b", rf"ts{number}_\1", text) if number else text


def _joined(parts: list[str]) -> str:
    """One PTX file of several: one head of the newest version, one declaration of each shared name."""
    head: dict[str, str] = {}
    body: list[str] = []
    for part in parts:
        for line in part.splitlines():
            directive = line.split(" ")[0]
            if directive in (".version", ".target", ".address_size"):
                head[directive] = max(
                    head.get(directive, ""), line, key=lambda s: [int(n) for n in re.findall(r"\d+", s)]
                )
            elif not line.startswith(".extern") or line not in body:
                body.append(line)
    return "\n".join([*head.values(), *body]) + "\n"


def _find_ptxas() -> str | None:
    import shutil

    from ...pathfinder import find_nvidia_binary_utility

    return find_nvidia_binary_utility("ptxas") or shutil.which("ptxas")


def _assembled(ptx: str, arch: str) -> bytes:
    """A cubin by ptxas, or by the driver's linker."""
    tool = _find_ptxas()
    if tool is None:
        return _linked(ptx, arch)
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        done = subprocess.run([tool, f"-arch={arch}", "-o", out, source], capture_output=True, text=True, check=False)
        if done.returncode:
            raise TileCompilerExecutionError(f"{tool} -arch={arch} failed:\n{done.stdout}{done.stderr}")
        with open(out, "rb") as result:
            return result.read()


def _linked(ptx: str, arch: str) -> bytes:
    from ...core import Linker, LinkerOptions, ObjectCode

    try:
        code: Any = Linker(ObjectCode.from_ptx(ptx.encode()), options=LinkerOptions(arch=arch)).link("cubin").code
    except Exception as error:
        raise TileCompilerExecutionError(
            f"no ptxas was found and the driver's linker cannot make a cubin for {arch}: {error}; install the package "
            "nvidia-cuda-nvcc, or export with output_format='ptx'"
        ) from error
    return bytes(code)


def _export_code(kernel: Any, signatures: Sequence[KernelSignature], gpu_code: str) -> tuple[str, str, list[Any]]:
    target, arch = _number(gpu_code)
    prepared = kernel._prepare()
    parts, made = [], []
    for i, given in enumerate(signatures):
        signature = _checked(kernel, prepared[3], given)
        text, plan = _code(kernel, prepared, specs_of(signature.parameters), target)
        symbol = signature.symbol or signature.with_mangled_symbol(kernel.__name__).symbol
        parts.append(_renamed(text, plan["name"], symbol or "", i))
        made.append(ExportedKernel(symbol or "", plan["threads"], plan["shared_bytes"], max(1, plan["cluster"])))
    return _joined(parts), arch, made


def _version(wanted: str | None, gpu_code: str | None) -> int:
    """A version of Tile IR bytecode as the core has it, 133 for "13.3"."""
    oldest, newest = _core.TILEIR_OLDEST, _core.TILEIR_NEWEST
    if wanted is None:
        return int(newest)
    found = re.fullmatch(r"13\.(\d)", wanted) if isinstance(wanted, str) else None
    number = 130 + int(found[1]) if found else 0
    if not oldest <= number <= newest:
        known = ", ".join(f"13.{n % 10}" for n in range(oldest, newest + 1))
        raise ValueError(f"bytecode_version {wanted!r} is not one of {known}")
    if gpu_code is None and number < 133:
        raise TileUnsupportedFeatureError(
            f"bytecode without gpu_code needs bytecode_version 13.3 or later, not {wanted}: older versions name a GPU"
        )
    return number


def _export_bytecode(
    kernel: Any, signatures: Sequence[KernelSignature], gpu_code: str | None, version: int
) -> tuple[bytes, list[ExportedKernel]]:
    """All signatures as kernels of one module."""
    prepared = kernel._prepare()
    texts, made = [], []
    for given in signatures:
        signature = _checked(kernel, prepared[3], given)
        symbol = signature.symbol or signature.with_mangled_symbol(kernel.__name__).symbol or ""
        text = _core.lower_text(prepared, specs_of(signature.parameters), True)
        if len(re.findall(r"^(?:both |thread )?(?:func|entry|global|constant) ", text, re.MULTILINE)) != 1:
            raise TileUnsupportedFeatureError(f"kernel '{kernel.__name__}' is more than one function of IR")
        texts.append(
            re.sub(r"^entry @(?:[\w.$]+|\"[^\"]*\")\(", lambda m, s=symbol: f'entry @"{s}"(', text, 1, re.MULTILINE)
        )
        made.append(ExportedKernel(symbol, 0, 0, 1))
    return _core.tileir_of_ir("\n".join(texts), gpu_code, version), made


def _write(output_file: Any, content: bytes) -> None:
    if hasattr(output_file, "write"):
        output_file.write(content)
        return
    with open(output_file, "wb") as file:
        file.write(content)


def export_kernel(
    kernel: Any,
    signatures: Sequence[KernelSignature],
    output_file: Any,
    *,
    gpu_code: str | None = None,
    output_format: str,
    bytecode_version: str | None = None,
) -> list[ExportedKernel]:
    """Compiles a kernel for the given signatures and writes the code.

    Parameters
    ----------
    kernel : kernel
    signatures : sequence of KernelSignature
        A function of the file for each.
    output_file : str, path or binary file
    gpu_code : str, optional
        The GPU, as ``"sm_90"``.
    output_format : str
        ``"cubin"`` (needs ptxas or a driver), ``"ptx"``, or ``"tileir_bytecode"``.
    bytecode_version : str, optional
        ``"13.1"`` to ``"13.4"``, of Tile IR bytecode.

    Returns
    -------
    list of ExportedKernel
        How the driver launches each function. Its parameters are those of the calling convention. Of bytecode only the
        symbols are known: NVIDIA's assembler decides the rest.

    Raises
    ------
    ValueError
        An unknown format, version or GPU, or no ``gpu_code`` where one is needed.
    TypeError
        The signature does not fit the parameters of the kernel.
    TileError
        The kernel does not compile for the signature.
    """
    if not hasattr(kernel, "_function"):
        raise TypeError(
            f"export_kernel() takes a kernel made with @ct.kernel, not {kernel!r}; code of Tile IR bytecode is written "
            "by python -m tessera tileir FILE --to sm_90"
        )
    if output_format not in FORMATS:
        raise ValueError(f"Unknown output format {output_format!r}; it is one of {', '.join(FORMATS)}")
    if gpu_code is None and output_format != "tileir_bytecode":
        raise ValueError(f"gpu_code is required when output_format is {output_format!r}.")
    if gpu_code is not None:
        _number(gpu_code)
    if isinstance(signatures, KernelSignature) or not isinstance(signatures, Iterable):
        raise TypeError(
            f"export_kernel() takes a sequence of signatures, not a {type(signatures).__name__}; "
            "for one pass [signature]"
        )
    signatures = list(signatures)
    if not signatures:
        raise ValueError("export_kernel() needs at least one signature")
    if output_format == "tileir_bytecode":
        code, made = _export_bytecode(kernel, signatures, gpu_code, _version(bytecode_version, gpu_code))
        _write(output_file, code)
        return made
    if bytecode_version is not None:  # an error for what this version lacks, though no bytecode is written
        _export_bytecode(kernel, signatures, gpu_code, _version(bytecode_version, gpu_code))
    ptx, arch, made = _export_code(kernel, signatures, gpu_code or "")
    _write(output_file, _assembled(ptx, arch) if output_format == "cubin" else ptx.encode())
    return made
