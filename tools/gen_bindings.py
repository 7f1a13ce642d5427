# SPDX-License-Identifier: Apache-2.0
"""Writes python/tessera/bindings/*.api and *.pyi from the headers of a CUDA toolkit.

    python tools/gen_bindings.py [--include FOLDER]... [--only-these] [--check]

The headers are those of the toolkit whose `nvcc` is on PATH (its include folder) and of NVIDIA's
wheels in this Python's site-packages (nvidia/*/include); --include puts a folder first,
--only-these looks nowhere else. Needed: cuda.h, cudaProfiler.h and their cuda*Typedefs.h,
cuda_runtime_api.h, cuda_profiler_api.h, nvrtc.h, nvJitLink.h, nvvm.h and nvml.h (wheel
nvidia-nvml-dev), all of CUDA 13.0; a module whose headers are not found is left as it is. --check
writes nothing and fails when a checked-in file would change.

Only names, types, values and layouts are taken over; NVIDIA's texts stay where they are. The form
of an .api file is told in docs/reference/bindings.md.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import shutil
import site
import sys
import textwrap
from dataclasses import dataclass

import generated
from cheader import SIZES, Function, Header, Member, Type, read_headers
from gen_stubs import stub_text
from generated import ROOT

OUT = ROOT / "python" / "tessera" / "bindings"
VERSION = 13000

# Parameters that Python spells differently, because of keywords and builtins.
RENAMED = {"type": "typename", "len": "length", "bytes": "numbytes", "format": "pformat", "from": "from_",
           "input": "input_"}  # fmt: skip

# Pointers that are lists, by parameter name: how many entries the C function reads.
LISTS = {
    "dependencies": "numDependencies", "pDependencies": "numDependencies", "dependencyData": "numDependencies",
    "from": "numDependencies", "to": "numDependencies", "edgeData": "numDependencies", "operations": "count",
    "dsts": "count", "srcs": "count", "sizes": "count", "attrs": "numAttrs", "attrsIdxs": "numAttrs",
    "opList": "numOps", "mapInfoList": "count", "dptrs": "count", "prefetchLocs": "numPrefetchLocs",
    "prefetchLocIdxs": "numPrefetchLocs", "extSemArray": "numExtSems", "paramsArray": "numExtSems",
    "paramArray": "count", "launchParamsList": "numDevices", "globalDim": "tensorRank", "descList": "count",
    "globalStrides": "tensorRank-1", "boxDim": "tensorRank", "elementStrides": "tensorRank",
    "pixelBoxLowerCorner": "tensorRank-2", "pixelBoxUpperCorner": "tensorRank-2", "headers": "numHeaders",
    "includeNames": "numHeaders",
}  # fmt: skip

# Functions whose parameters the general rules read wrongly: parameter -> kind
# (docs/reference/bindings.md).
EXCEPTIONS: dict[str, dict[str, str]] = {
    "cuDeviceGetName": {"name": ">bytes:len"},
    "cuDeviceGetPCIBusId": {"pciBusId": ">bytes:len"},
    "cudaDeviceGetPCIBusId": {"pciBusId": ">bytes:len"},
    "cuDeviceGetLuid": {"luid": ">bytes8"},
    "cuMemSetAccess": {"desc": "[CUmemAccessDesc#count"},
    "cuMemPoolSetAccess": {"map": "[CUmemAccessDesc#count"},
    "cuMemBatchDecompressAsync": {"paramsArray": "*CUmemDecompressParams", "errorIndex": ">size"},
    "cuMemGetHandleForAddressRange": {"handle": ">i32"},
    "cuThreadExchangeStreamCaptureMode": {"mode": "&CUstreamCaptureMode"},
    "cudaThreadExchangeStreamCaptureMode": {"mode": "&cudaStreamCaptureMode"},
    "cuTexRefSetBorderColor": {"pBorderColor": "[f32#4"},
    "cuTexRefGetBorderColor": {"pBorderColor": ">[f32:4"},
    "cuGraphicsMapResources": {"resources": "[CUgraphicsResource#count"},
    "cuGraphicsUnmapResources": {"resources": "[CUgraphicsResource#count"},
    "cudaGraphicsMapResources": {"resources": "[cudaGraphicsResource_t#count"},
    "cudaGraphicsUnmapResources": {"resources": "[cudaGraphicsResource_t#count"},
    "cuLogsDumpToFile": {"iterator": "?CUlogIterator"},
    "cuLogsDumpToMemory": {"iterator": "?CUlogIterator", "size": "&size"},
    "cudaLogsDumpToFile": {"iterator": "?cudaLogIterator"},
    "cudaLogsDumpToMemory": {"iterator": "?cudaLogIterator", "size": "&size"},
    "cuCheckpointProcessRestore": {"args": "*CUcheckpointRestoreArgs"},
    "cuDevResourceGenerateDesc": {"resources": "[CUdevResource#nbResources"},
    "cuGraphAddMemAllocNode": {"nodeParams": "*CUDA_MEM_ALLOC_NODE_PARAMS"},
    "cudaGraphAddMemAllocNode": {"nodeParams": "*cudaMemAllocNodeParams"},
    "cuModuleEnumerateFunctions": {"functions": ">[CUfunction:numFunctions"},
    "cuLibraryEnumerateKernels": {"kernels": ">[CUkernel:numKernels"},
    "cuDeviceGetP2PAtomicCapabilities": {"capabilities": ">[u32:count"},
    "cuDeviceGetHostAtomicCapabilities": {"capabilities": ">[u32:count"},
    "cudaDeviceGetP2PAtomicCapabilities": {"capabilities": ">[u32:count"},
    "cudaDeviceGetHostAtomicCapabilities": {"capabilities": ">[u32:count"},
    "cuPointerGetAttributes": {"attributes": "[CUpointer_attribute#numAttributes", "data": "*"},
    "cuMemRangeGetAttributes": {"attributes": "[CUmem_range_attribute#numAttributes", "data": "*",
                                "dataSizes": "[size#numAttributes"},
    "cudaMemRangeGetAttributes": {"attributes": "[cudaMemRangeAttribute#numAttributes", "data": "*",
                                  "dataSizes": "[size#numAttributes"},
    "cuModuleLoadDataEx": {"options": "[CUjit_option#numOptions", "optionValues": "[*#numOptions"},
    "cuLinkCreate": {"options": "*", "optionValues": "*"},
    "cuLinkAddData": {"options": "[CUjit_option#numOptions", "optionValues": "[*#numOptions"},
    "cuLinkAddFile": {"options": "[CUjit_option#numOptions", "optionValues": "[*#numOptions"},
    **{name: {"jitOptions": f"[{jit}#numJitOptions", "jitOptionsValues": "[*#numJitOptions",
              "libraryOptions": f"[{library}#numLibraryOptions", "libraryOptionValues": "[*#numLibraryOptions"}
       for prefix, jit, library in (("cu", "CUjit_option", "CUlibraryOption"),
                                    ("cuda", "cudaJitOption", "cudaLibraryOption"))
       for name in (f"{prefix}LibraryLoadData", f"{prefix}LibraryLoadFromFile")},
    "cuDevSmResourceSplitByCount": {"result": "*", "nbGroups": "&u32", "remaining": ">CUdevResource"},
    "cuGraphGetNodes": {"nodes": "*", "numNodes": "&size"},
    "cuGraphGetRootNodes": {"rootNodes": "*", "numRootNodes": "&size"},
    "cuGraphGetEdges": {"from": "*", "to": "*", "edgeData": "*", "numEdges": "&size"},
    "cuGraphNodeGetDependencies": {"dependencies": "*", "edgeData": "*", "numDependencies": "&size"},
    "cuGraphNodeGetDependentNodes": {"dependentNodes": "*", "edgeData": "*", "numDependentNodes": "&size"},
    "cudaGraphGetNodes": {"nodes": "*", "numNodes": "&size"},
    "cudaGraphGetRootNodes": {"pRootNodes": "*", "pNumRootNodes": "&size"},
    "cudaGraphGetEdges": {"from": "*", "to": "*", "edgeData": "*", "numEdges": "&size"},
    "cudaGraphNodeGetDependencies": {"pDependencies": "*", "edgeData": "*", "pNumDependencies": "&size"},
    "cudaGraphNodeGetDependentNodes": {"pDependentNodes": "*", "edgeData": "*", "pNumDependentNodes": "&size"},
    "cuStreamGetCaptureInfo": {"dependencies_out": ">*", "edgeData_out": ">*"},
    "cudaStreamGetCaptureInfo": {"dependencies_out": ">*", "edgeData_out": ">*"},
    "cuCoredumpGetAttribute": {"size": "&size"},
    "cuCoredumpGetAttributeGlobal": {"size": "&size"},
    "cuCoredumpSetAttribute": {"size": "&size"},
    "cuCoredumpSetAttributeGlobal": {"size": "&size"},
    "cudaMemcpyBatchAsync": {"dsts": "[*#count", "srcs": "[*#count"},
    "cudaMemPrefetchBatchAsync": {"dptrs": "[*#count"},
    "cudaMemDiscardBatchAsync": {"dptrs": "[*#count"},
    "cudaMemDiscardAndPrefetchBatchAsync": {"dptrs": "[*#count"},
    "cudaMemPoolExportPointer": {"exportData": ">cudaMemPoolPtrExportData"},
    "cudaPointerGetAttributes": {"attributes": ">cudaPointerAttributes"},
    "cudaGraphMemFreeNodeGetParams": {"dptr_out": ">*"},
    "cuGraphMemFreeNodeGetParams": {"dptr_out": ">CUdeviceptr"},
    "cudaChooseDevice": {"prop": "*cudaDeviceProp"},
    "cudaGetDeviceProperties": {"prop": ">cudaDeviceProp"},
    "nvrtcGetSupportedArchs": {"supportedArchs": "*"},
    "nvrtcCompileProgram": {"options": "[text#numOptions"},
    "nvrtcDestroyProgram": {"prog": "?nvrtcProgram"},
    "nvvmDestroyProgram": {"prog": "?nvvmProgram"},
    "nvvmCompileProgram": {"options": "[text#numOptions"},
    "nvvmVerifyProgram": {"options": "[text#numOptions"},
    "nvvmAddModuleToProgram": {"buffer": "*"},
    "nvvmLazyAddModuleToProgram": {"buffer": "*"},
    "nvJitLinkDestroy": {"handle": "?nvJitLinkHandle"},
    "nvJitLinkCreate": {"options": "[text#numOptions"},
    **{
        f"cudaGraphics{form}": {name: ">cudaGraphicsResource_t"}
        for form, name in (
            ("GLRegisterImage", "resource"), ("GLRegisterBuffer", "resource"), ("EGLRegisterImage", "pCudaResource"),
            ("VDPAURegisterVideoSurface", "resource"), ("VDPAURegisterOutputSurface", "resource"),
        )
    },
    "cuGLGetDevices": {"pCudaDevices": ">[CUdevice:cudaDeviceCount"},
    "cudaGLGetDevices": {"pCudaDevices": ">[i32:cudaDeviceCount"},
    **{
        f"{prefix}VDPAU{form}": {"vdpGetProcAddress": "VdpGetProcAddress"}
        for prefix in ("cu", "cuda") for form in ("GetDevice", "CtxCreate", "SetVDPAUDevice")
    },
    "cudaVDPAUSetVDPAUDevice": {"vdpGetProcAddress": "VdpGetProcAddress"},
    **{
        f"{prefix}EGLStream{form}": {
            "conn": f"?{handle}EglStreamConnection".replace("CUEgl", "CUegl"), "pStream": f"?{stream}",
            "eglframe": f"{'*' * (form[-11:] == 'ReturnFrame')}{handle}EglFrame".replace("CUEgl", "CUegl"),
        }
        for prefix, handle, stream in (("cu", "CU", "CUstream"), ("cuda", "cuda", "cudaStream_t"))
        for form in ("ConsumerDisconnect", "ConsumerAcquireFrame", "ConsumerReleaseFrame", "ProducerDisconnect",
                     "ProducerPresentFrame", "ProducerReturnFrame")
    },
    "nvmlDeviceSetTemperatureThreshold": {"temp": "&i32"},
    "nvmlSystemGetHicVersion": {"hwbcCount": "&u32", "hwbcEntries": "*"},
    "nvmlUnitGetDevices": {"deviceCount": "&u32", "devices": "*"},
    "nvmlVgpuTypeGetClass": {"size": "&u32"},
    "nvmlVgpuTypeGetName": {"size": "&u32"},
    "nvmlVgpuInstanceGetGpuPciId": {"length": "&u32"},
    "nvmlVgpuInstanceGetMetadata": {"vgpuMetadata": "*", "bufferSize": "&u32"},
    "nvmlDeviceGetVgpuMetadata": {"pgpuMetadata": "*", "bufferSize": "&u32"},
    "nvmlDeviceGetPgpuMetadataString": {"bufferSize": "&u32"},
    "nvmlDeviceGetFBCSessions": {"sessionCount": "&u32", "sessionInfo": "*"},
    "nvmlDeviceGetVgpuUtilization": {
        "sampleValType": "&nvmlValueType_t", "vgpuInstanceSamplesCount": "&u32", "utilizationSamples": "*",
    },
    "nvmlDeviceGetVgpuProcessUtilization": {"vgpuProcessSamplesCount": "&u32", "utilizationSamples": "*"},
    "nvmlVgpuInstanceGetFBCSessions": {"sessionCount": "&u32", "sessionInfo": "*"},
    "nvmlVgpuInstanceGetEncoderSessions": {"sessionCount": "&u32", "sessionInfo": "*"},
    **{f"cuTensorMapEncode{form}": {"tensorMap": ">CUtensorMap"} for form in ("Tiled", "Im2col", "Im2colWide")},
}  # fmt: skip

# Functions that libraries newer than the headers may have; without them a call says so.
LATER = {
    "nvvm": ["fn llvm_version nvvmLLVMVersion Result arch:text major:>i32"],
    "nvjitlink": [
        "fn get_linked_ltoir_size nvJitLinkGetLinkedLTOIRSize Result handle:u64 size:>size",
        "fn get_linked_ltoir nvJitLinkGetLinkedLTOIR Result handle:u64 ltoir:*",
    ],
}

# Pointers of NVML that are memory of the caller for many, and the counts that go in and come out.
NVML_LISTS = re.compile(
    r"infos|cpuSet|nodeSet|deviceArray|values|clocksMHz|pstates|samples|sessionInfos|utilization|procesesInfo"
    r"|processSamples|typeIds|vgpuTypeIds|vgpuInstances|placements|info|profiles|gpuInstances|computeInstances"
    r"|addresses|timestamps|bridgeHierarchy|pids|eccCounts"
)
NVML_COUNTS = re.compile(
    r"(info|session|vgpu|sample|clocks|page|p)?[cC]ount|pageCount|clocksMHzCount|processSamplesCount|sessionCount"
)

# Copies whose host memory is checked against the size asked for, when it comes as a Python buffer.
HOST_MEMORY = re.compile(r"cuMemcpy(HtoD|DtoH|HtoA|AtoH)(Async)?|cudaMemcpy(Async)?")
# Structs the C function fills although its text does not begin by saying so.
FILLED = re.compile(
    r"(_out|Out)$|^(memoryRequirements|sparseProperties|resultInfo|pitchedDevPtr|desc)$"
)
# Pointer fields of structs that are lists, and the field that counts them.
COUNTED = {
    "attrs": "numAttrs", "extSemArray": "numExtSems", "paramsArray": "numExtSems",
    "accessDescs": "accessDescCount", "paramArray": "count", "phGraph_out": "size",
    "execAffinityParams": "numExecAffinityParams", "gpuPairs": "gpuPairsCount",
}  # fmt: skip
# Structs of the platform itself; the headers also bring float2 and its like.
OURS = re.compile(r"CU|cu|nvml|dim3$")
# What needs a symbol or a function of the host program's own, or passes a large struct by value: not
# for Python (the driver has it in another form).
NOT_FOR_PYTHON = re.compile(
    r"cuda(LaunchKernel|LaunchKernelExC|LaunchCooperativeKernel|.*Symbol(Async|Address|Size)?|FuncGetName"
    r"|EGLStreamProducerPresentFrame|FuncGetParamInfo|OccupancyMax(Potential|Active)Cluster(Size|s)|SetValidDevices)$"
)


@dataclass
class Module:
    """Some headers of one folder and the Python module made of them."""

    name: str
    prefix: str  # of functions
    headers: list[str]
    snake: bool = False  # names without the prefix in snake_case, handles as int, errors raised


MODULES = [
    Module("driver", "cu", ["cuda.h", "cudaProfiler.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h"]),
    Module("runtime", "cuda", [
        "cuda_runtime_api.h", "cuda_profiler_api.h", "driver_types.h", "cuda_gl_interop.h", "cuda_egl_interop.h",
        "cuda_vdpau_interop.h",
    ]),
    Module("nvrtc", "nvrtc", ["nvrtc.h"]),
    Module("nvjitlink", "nvJitLink", ["nvJitLink.h"], snake=True),
    Module("nvvm", "nvvm", ["nvvm.h"], snake=True),
    Module("nvml", "nvml", ["nvml.h"]),
]


# ---- names ---------------------------------------------------------------------------------------


class Names:
    """Which of the many typedef names of one thing is the public one."""

    def __init__(self, header: Header) -> None:
        self.header = header
        groups: dict[str, list[str]] = {}
        for name, target in header.aliases.items():
            root = header.resolve(Type(name)).name
            if not target.pointers and (root in header.records or root in header.enums):
                groups.setdefault(root, []).append(name)
            elif target.pointers == 0 and root in SIZES:
                groups.setdefault(re.sub(r"_v\d+$", "", name), []).append(name)
        self.public: dict[str, str] = {}
        for root, names in groups.items():
            stem = re.sub(r"_(st|enum|union)$", "", root)
            best = min(
                [root, *names],
                key=lambda n: (bool(re.search(r"_(st|enum|union|v\d+)$", n)), n != stem, len(n), n),
            )
            best = {"cudaError": "cudaError_t"}.get(best, best)
            self.public |= {name: best for name in [root, *names]}

    def of(self, name: str) -> str:
        outer, dot, inner = name.partition(".")
        return self.public.get(outer, outer) + ("_" + inner if dot else "")


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


# ---- kinds of parameters -------------------------------------------------------------------------


class Emitter:
    def __init__(
        self, module: Module, header: Header, versions: dict[str, list[tuple[int, str]]]
    ) -> None:
        self.module, self.header, self.names, self.versions = (
            module,
            header,
            Names(header),
            versions,
        )
        self.anonymous = {
            r: f"{self.names.of(r.split('.')[0])}_{m.name}"
            for record in header.records.values() for m in record.members
            if "." in (r := m.type.name)
        }  # fmt: skip

    def type_name(self, type_: Type) -> str:
        """The name of a type without its pointers."""
        if type_.name in self.anonymous:
            return self.anonymous[type_.name]
        if type_.callback:
            return "*"
        return self.names.of(type_.name.removeprefix("struct "))

    def kind(self, function: str, parameter: Member) -> str:
        """How a parameter is passed, in the words of the .api files."""
        name, type_ = parameter.name, parameter.type
        given = EXCEPTIONS.get(function, {}).get(name)
        if given:
            return given
        if HOST_MEMORY.fullmatch(function) and name in ("dstHost", "srcHost", "dst", "src"):
            return "*#ByteCount" if function.startswith("cuM") else "*#count"
        if type_.callback or type_.pointers == 0:
            return self.type_name(type_)
        if function.startswith("nvml") and type_.pointers == 1 and not type_.const:
            if self.is_list(name):
                return "*" if NVML_LISTS.fullmatch(name) else f"&{self.type_name(type_)}"
        base = self.type_name(type_)
        if type_.pointers == 1:
            return self.pointer(function, name, type_, base)
        if name == "kernelParams":
            return "params"
        if name in LISTS and base == "i8":
            return f"[text#{LISTS[name]}"
        if name == "extra":
            return "*"
        return ">text" if base == "i8" else ">*"

    def is_list(self, name: str) -> bool:
        """Whether a function of NVML takes memory for many, and this parameter is that or its
        count."""
        names = [p.name for p in self.parameters]
        others = ("cpuSetSize", "nodeSetSize", "valuesCount", "size")
        counts = [n for n in names if NVML_COUNTS.fullmatch(n) or n in others]
        lists = [n for n in names if NVML_LISTS.fullmatch(n)]
        return bool(counts and lists) and name in [*counts, *lists]

    def pointer(self, function: str, name: str, type_: Type, base: str) -> str:
        if base == "void":
            return "*"
        if base == "i8":
            return "text" if type_.const else "buffer"
        if name in LISTS:
            return f"[{base}#{LISTS[name]}"
        if base in self.records():
            returned = name in self.header.returned.get(function, ()) or FILLED.search(name)
            getter = re.search(
                r"Get\w*(Desc|Params|Resource|Properties|Attribute|FromHandle)$", function
            )
            is_in = type_.const or not (returned or (getter and name not in ("location",)))
            return f"*{base}" if is_in else f">{base}"
        return f"*{base}" if type_.const else f">{base}"

    def records(self) -> set[str]:
        return {self.names.of(r) for r in self.header.records}

    # ---- lines -----------------------------------------------------------------------------------

    def function(self, function: Function) -> str:
        symbol, self.parameters = function.symbol, function.parameters
        name = self.header.renamed.get(symbol, symbol)
        plain = re.sub(r"^__|_13_0$", "", name)
        words = [
            f"{RENAMED.get(p.name, p.name)}:{self.kind(plain, p)}" for p in function.parameters
        ]
        for c, python in RENAMED.items():
            words = [
                re.sub(rf"([:#]){c}$", rf"\1{python}", w) if ":>" in w or "#" in w else w
                for w in words
            ]
        result = self.names.of(function.result.name)
        result = result.removeprefix(self.module.prefix) if self.module.snake else result
        result = "text" if function.result.pointers and result == "i8" else result
        if self.module.snake:
            stem = re.sub(r"^_*nvJitLink|^nvvm|_13_0$", "", symbol)
            name = snake(stem)
            words = [re.sub(r"^\w+", lambda m: snake(m.group()), w) for w in words]
            words = [re.sub(r"#(\w+)", lambda m: "#" + snake(m.group(1)), w) for w in words]
            words = [re.sub("|".join(self.header.handles), "u64", w) for w in words]
            words = [re.sub(rf":{self.module.prefix}(?=[A-Z])", ":", w) for w in words]
        return f"fn {name} {self.lookup(function)} {result} {' '.join(words)}".rstrip()

    def lookup(self, function: Function) -> str:
        """symbol@version for cuGetProcAddress, or the symbol for dlsym."""
        if self.module.name != "driver":
            return function.symbol
        base = re.sub(r"_v\d+$", "", function.symbol)
        shape = ", ".join(self.spelled(p.type) for p in function.parameters)
        found = [v for v, other in self.versions.get(base, []) if other == shape and v <= VERSION]
        if not found:
            sys.exit(f"gen_bindings: cudaTypedefs.h has no version of {function.symbol}({shape})")
        return f"{base}@{max(found)}"

    def spelled(self, type_: Type) -> str:
        base = self.header.resolve(Type(type_.name)).name
        return f"{'const ' if type_.const else ''}{base}{'*' * type_.pointers}"

    def enum(self, name: str, members: dict[str, int]) -> str:
        if self.module.snake:
            name = name.removeprefix(self.module.prefix)
            prefix = re.compile(rf"^{self.module.prefix}_({name.removesuffix('Type')}_)?", re.I)
            members = {prefix.sub("", n): v for n, v in members.items()}
        return f"enum {name} " + " ".join(f"{n}={v}" for n, v in members.items())

    def struct(self, name: str, public: str) -> str:
        record = self.header.records[name]
        fields = [f"{m.name}:{self.field(m, record.members)}@{m.offset}" for m in record.members]
        return f"struct {public} {record.size}/{record.align} {' '.join(fields)}"

    def field(self, member: Member, siblings: list[Member]) -> str:
        type_ = member.type
        base = self.type_name(type_)
        counts = "".join(f"[{n}]" for n in self.header.resolve(type_).counts)
        if type_.pointers or type_.callback:
            counter = COUNTED.get(member.name)
            if member.name == "kernelParams":
                return "params"
            if type_.pointers == 1 and counter in [s.name for s in siblings] and base != "void":
                return f"[{base}#{counter}"
            inner = (
                base
                if type_.pointers == 1 and base in self.records()
                else "*" * (type_.pointers - 1)
            )
            return f"*{inner}{counts}"
        return base + counts

    def lines(self) -> list[str]:
        header, of = self.header, self.names.of
        out = [f"const {name} {value}" for name, value in header.constants.items()]
        aliases: dict[str, str] = {}
        for name, enum in header.enums.items():
            if name.startswith("?"):
                out += [f"const {n} {v}" for n, v in enum.members.items()]
                continue
            out.append(self.enum(of(name), enum.members))
        out += [f"handle {name}" for name in header.handles if not self.module.snake]
        out += [f"callback {name}" for name in header.callbacks]
        for name in header.aliases:
            target, type_ = of(name), header.resolve(Type(name))
            if target != name:
                aliases[name] = target
            elif type_.name in SIZES and not type_.pointers and not type_.counts:
                out.append(f"int {name} {type_.name}")
            elif header.aliases[name].name in [*header.handles, *header.callbacks]:
                aliases[name] = header.aliases[name].name
        for name in header.records:
            public = self.anonymous.get(name, of(name))
            if ("." in name and name not in self.anonymous) or not OURS.match(public):
                continue
            out.append(self.struct(name, public))
            if public != name and "." not in name:
                aliases[name] = public
        for name in header.enums:
            if of(name) != name:
                aliases[name] = of(name)
        out += [f"alias {name} {target}" for name, target in aliases.items()]
        functions = [f for f in header.functions.values() if self.wanted(f.symbol)]
        out += [self.function(f) for f in functions]
        self.check(out)
        return out

    @staticmethod
    def check(lines: list[str]) -> None:
        """Every type that is used is declared."""
        declared = (
            {line.split()[1] for line in lines}
            | set(SIZES)
            | {"text", "buffer", "params", "bytes", "bytes8", ""}
        )
        words = [
            w
            for line in lines
            if line.startswith(("struct", "fn"))
            for w in line.split()[3:]
            if ":" in w
        ]
        used = {re.match(r"\w+:(?:\*(?=\[\d)|[>&?\[*]*)(\w*)", word).group(1) for word in words}  # type: ignore[union-attr]
        missing = sorted(used - declared)
        if missing:
            sys.exit(f"gen_bindings: not declared: {', '.join(missing)}")

    def wanted(self, symbol: str) -> bool:
        if self.module.name == "nvjitlink":
            return symbol.startswith("__nvJitLink") or symbol == "nvJitLinkVersion"
        return symbol.startswith(self.module.prefix) and not NOT_FOR_PYTHON.match(symbol)


def typedef_versions(folder: pathlib.Path, header: Header) -> dict[str, list[tuple[int, str]]]:
    """For each driver function the versions of cuda*Typedefs.h with the types of their
    parameters."""
    parts = ("", "Profiler", "GL", "EGL", "VDPAU")
    text = "".join((folder / f"cuda{part}Typedefs.h").read_text() for part in parts)
    found: dict[str, list[tuple[int, str]]] = {}
    pattern = r"typedef CUresult\s*\(\s*CUDAAPI \*PFN_(\w+?)_v(\d+)\)\((.*?)\);"
    for name, version, parameters in re.findall(pattern, text, re.S):
        parser = read_parameters(parameters.replace("CUDAAPI ", ""), header)
        found.setdefault(name, []).append((int(version), parser))
    return found


def read_parameters(text: str, header: Header) -> str:
    from cheader import _Parser

    parser = _Parser(f"void f({text});")
    parser.header.aliases, parser.header.records, parser.header.enums = (
        header.aliases,
        header.records,
        header.enums,
    )
    parser.statement()
    spelled = []
    for p in parser.header.functions["f"].parameters:
        base = header.resolve(Type(p.type.name)).name
        spelled.append(f"{'const ' if p.type.const else ''}{base}{'*' * p.type.pointers}")
    return ", ".join(spelled)


# ---- files ---------------------------------------------------------------------------------------


def folders(given: list[str]) -> list[pathlib.Path]:
    found = [pathlib.Path(g) for g in given]
    nvcc = shutil.which("nvcc")
    if nvcc:
        text = pathlib.Path(nvcc).read_bytes()[:200]
        wrapper = re.search(rb"^exec (\S+)", text, re.M)  # some systems wrap nvcc in a script
        real = pathlib.Path(wrapper.group(1).decode() if wrapper else nvcc).resolve()
        found.append(real.parent.parent / "include")
    for root in [*site.getsitepackages(), *sys.path]:
        found += sorted(pathlib.Path(root).glob("nvidia/*/include"))
    return found


def api_text(module: Module, folder: pathlib.Path) -> str:
    header = read_headers(folder, module.headers)
    versions = typedef_versions(folder, header) if module.name == "driver" else {}
    lines = [*Emitter(module, header, versions).lines(), *LATER.get(module.name, [])]
    head = f"# {module.headers[0]} of CUDA 13.0, by tools/gen_bindings.py. Do not edit.\n"
    wrapped = [
        "\n".join(
            textwrap.wrap(
                line, 110, subsequent_indent=" ", break_long_words=False, break_on_hyphens=False
            )
        )
        for line in lines
    ]
    return head + "\n".join(wrapped) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--only-these", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    places = (
        [pathlib.Path(f) for f in options.include]
        if options.only_these
        else folders(options.include)
    )
    texts = {}
    for module in MODULES:
        folder = next(
            (f for f in places if all((f / h).exists() for h in module.headers)),
            None,
        )
        if folder is None:
            print(f"{module.name}: no {module.headers[0]}; left as it is")
            continue
        text = api_text(module, folder)
        for target, content in (
            (f"{module.name}.api", text),
            (f"{module.name}.pyi", stub_text(module, text)),
        ):
            texts[OUT / target] = content
    return generated.settle(texts)


if __name__ == "__main__":
    sys.exit(main())
