# SPDX-License-Identifier: Apache-2.0
"""What ``import cuda.cccl`` gives under ``python -m tessera run``: the package above older names."""
