# SPDX-License-Identifier: Apache-2.0
"""What to do about a header that NVRTC does not find."""

from __future__ import annotations

import re

__all__ = ["missing_header"]

# What a header's name begins with: the wheel that has it.
_WHEEL_OF_HEADER = {
    "cuda/": "nvidia-cuda-cccl", "cub/": "nvidia-cuda-cccl", "thrust/": "nvidia-cuda-cccl",
    "nv/": "nvidia-cuda-cccl", "curand": "nvidia-curand", "cublas": "nvidia-cublas",
    "cufft": "nvidia-cufft", "cusparse": "nvidia-cusparse", "cusolver": "nvidia-cusolver",
    "cuda": "nvidia-cuda-runtime", "cooperative_groups": "nvidia-cuda-runtime",
    "mma.h": "nvidia-cuda-runtime", "vector_types.h": "nvidia-cuda-runtime",
}  # fmt: skip


def missing_header(log: str, first: str) -> str:
    """The lines to add to a compiler's log that misses a header; `first` names the option whose
    directories are searched first. Empty where the log misses none."""
    from . import find_cuda_include_dirs

    missed = re.search(r"(?:could not|cannot) open source file (?:\"([^\"]+)\")?", log)
    if not missed:
        return ""
    name, found = missed.group(1) or "", find_cuda_include_dirs()
    wheel = next((w for start, w in _WHEEL_OF_HEADER.items() if name.startswith(start)), "")
    brings = f"\n`pip install {wheel}` brings {name}" if wheel else ""
    if found:
        return f"{brings}\nHeaders are looked for in {first}, then in {', '.join(found)}"
    return (
        "\nNo headers of CUDA are installed here; `pip install nvidia-cuda-runtime "
        f"nvidia-cuda-cccl` brings them, CUDA_PATH can name a toolkit{brings}"
    )
