# SPDX-License-Identifier: Apache-2.0
"""Modules that programs import of ``numba.cuda.cudadrv``, under ``python -m tessera run``."""
