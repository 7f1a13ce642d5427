# SPDX-License-Identifier: Apache-2.0
"""``ct.compilation``: kernels compiled ahead of time, with the names of ``cuda.tile.compilation``.

    from tessera.tile.compilation import *

    row = ArrayConstraint(ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
                          may_alias_internally=False, stride_constant=(1,), base_addr_divisible_by=16)
    signature = KernelSignature([row, row, 256], CallingConvention.cutile_python_v2())
    export_kernel(scale, [signature], "scale.cubin", gpu_code="sm_90", output_format="cubin")

What a constraint promises is compiled in and not checked when the kernel is launched.
"""

from __future__ import annotations

from ._export import ExportedKernel, export_kernel
from ._mangle import demangle_kernel_name, mangle_kernel_name
from ._signature import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    ConstantValue,
    KernelSignature,
    ListConstraint,
    ParameterConstraint,
    ScalarConstraint,
    TupleConstraint,
)

__all__ = [
    "ArrayConstraint",
    "CallingConvention",
    "ConstantConstraint",
    "ConstantValue",
    "ExportedKernel",
    "KernelSignature",
    "ListConstraint",
    "ParameterConstraint",
    "ScalarConstraint",
    "TupleConstraint",
    "demangle_kernel_name",
    "export_kernel",
    "mangle_kernel_name",
]
