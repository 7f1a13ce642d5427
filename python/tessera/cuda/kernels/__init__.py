# SPDX-License-Identifier: Apache-2.0
"""Kernels that are there: ``cuda.kernels.transpose``."""
