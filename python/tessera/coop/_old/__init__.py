# SPDX-License-Identifier: Apache-2.0
"""``cuda.cooperative`` and ``cuda.cccl.cooperative``, older names of ``cuda.coop``; factories are without ``make_``."""
