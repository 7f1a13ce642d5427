# SPDX-License-Identifier: Apache-2.0
"""What pathfinder knows: libraries, headers, bitcode, static libraries and programs of the CUDA
toolkit and its neighbours. One row each; a library's file is ``lib<name>.so.<version>``, newest
version first.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "BITCODE",
    "COMPANIONS",
    "HEADERS",
    "LIBRARIES",
    "OTHER_HEADERS",
    "PROGRAMS",
    "STATIC",
    "WHEELS",
    "Library",
]


class Library(NamedTuple):
    """A dynamic library: the file names to look for, what is loaded before it, and where it comes
    from."""

    name: str
    sonames: tuple[str, ...]
    needs: tuple[str, ...]
    origin: str  # "toolkit", "other" or "driver"


# name: versions : loaded first
_TOOLKIT = """
cudart 13 12 :
nvfatbin 13 12 :
nvJitLink 13 12 :
nvrtc 13 12 :
nvvm 4 :
cublas 13 12 : cublasLt
cublasLt 13 12 :
cufft 12 11 :
cufftw 12 11 : cufft
curand 10 :
cusolver 12 11 : nvJitLink cusparse cublasLt cublas
cusolverMg 12 11 : nvJitLink cublasLt cublas
cusparse 12 : nvJitLink
nppc 13 12 :
nppial 13 12 : nppc
nppicc 13 12 : nppc
nppidei 13 12 : nppc
nppif 13 12 : nppc
nppig 13 12 : nppc
nppim 13 12 : nppc
nppist 13 12 : nppc
nppisu 13 12 : nppc
nppitc 13 12 : nppc
npps 13 12 : nppc
nvblas 13 12 : cublas cublasLt
nvjpeg 13 12 :
cupti 13 12 :
cudla 1 :
cufile 0 :
"""
_OTHER = """
cublasmp 0 : cublas cublasLt nvshmem_host
cudensitymat 0 : cutensor cutensornet
cudnn 9 : cublas cublasLt
cudss 0 : cublas cublasLt
cufftMp 12 11 : nvshmem_host
cupauliprop 0 :
cusolverMp 0 : cublas
cusparseLt 0 :
custabilizer 0 :
custatevec 1 : cublas cublasLt
cutensor 2 : cublasLt
cutensorMg 2 : cutensor cublasLt
cutensorMp 0 : cutensor cublasLt
cutensornet 2 : cutensor cublasLt
mathdx 0 : nvrtc
nccl 2 :
nvpl_fftw 0 :
nvshmem_host 3 :
"""
_DRIVER = """
cuda 1 :
nvidia-ml 1 :
nvcudla 1 :
"""
_RENAMED = {"nvidia-ml": "nvml"}


def _rows(text: str, origin: str) -> dict[str, Library]:
    rows = {}
    for line in text.strip().splitlines():
        left, _, needs = line.partition(":")
        file, *versions = left.split()
        name = _RENAMED.get(file, file)
        sonames = tuple(f"lib{file}.so.{version}" for version in versions)
        rows[name] = Library(name, sonames, tuple(needs.split()), origin)
    return rows


LIBRARIES = {**_rows(_TOOLKIT, "toolkit"), **_rows(_OTHER, "other"), **_rows(_DRIVER, "driver")}

# What a library opens by bare name while it works; loaded with it, since it has no path of its own
# to find it.
COMPANIONS = {"nvrtc": "libnvrtc-builtins.so.*"}

# Header directories by the file that shows them: in the toolkit, and of its neighbours.
HEADERS = {
    "cccl": "cuda/std/version", "cublas": "cublas.h", "cudart": "cuda_runtime.h", "cufft": "cufft.h",
    "curand": "curand.h", "cusolver": "cusolverDn.h", "cusparse": "cusparse.h", "npp": "npp.h",
    "profiler": "cuda_profiler_api.h", "nvcc": "fatbinary_section.h", "nvfatbin": "nvFatbin.h",
    "nvjitlink": "nvJitLink.h", "nvjpeg": "nvjpeg.h", "nvrtc": "nvrtc.h", "nvvm": "nvvm.h",
    "cufile": "cufile.h", "cudla": "cudla.h",
}  # fmt: skip
OTHER_HEADERS = {
    "cudnn": "cudnn.h", "cusolverMp": "cusolverMp.h", "cusparseLt": "cusparseLt.h", "cute": "cute/tensor.hpp",
    "cutensor": "cutensor.h", "cudensitymat": "cudensitymat.h", "cupauliprop": "cupauliprop.h",
    "cutensornet": "cutensornet.h", "custabilizer": "custabilizer.h", "custatevec": "custatevec.h",
    "cutlass": "cutlass/cutlass.h", "mathdx": "libmathdx.h", "nvshmem": "nvshmem.h", "nccl": "nccl.h",
}  # fmt: skip
BITCODE = {
    "device": "libdevice.10.bc", "nccl_device": "libnccl_device.bc", "nvshmem_device": "libnvshmem_device.bc"
}  # fmt: skip
STATIC = {"cudadevrt": "libcudadevrt.a"}
PROGRAMS = (
    "nvcc", "ptxas", "nvdisasm", "cuobjdump", "nvprune", "fatbinary", "bin2c", "nvlink", "cuda-gdb",
    "cuda-gdbserver", "compute-sanitizer", "nvprof", "nsys", "nsight-sys", "ncu", "nsight-compute",
)  # fmt: skip
# The wheel that brings a part, without the suffix -cu12 of older ones.
WHEELS = {
    "cudart": "nvidia-cuda-runtime", "nvrtc": "nvidia-cuda-nvrtc", "nvJitLink": "nvidia-nvjitlink",
    "nvvm": "nvidia-nvvm", "device": "nvidia-nvvm", "cudadevrt": "nvidia-cuda-runtime", "cublas": "nvidia-cublas",
    "cublasLt": "nvidia-cublas", "cufft": "nvidia-cufft", "curand": "nvidia-curand",
    "cusolver": "nvidia-cusolver", "cusparse": "nvidia-cusparse", "nvfatbin": "nvidia-nvfatbin",
    "cupti": "nvidia-cuda-cupti", "nccl": "nvidia-nccl-cu13",
}  # fmt: skip
