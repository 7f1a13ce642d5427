# SPDX-License-Identifier: Apache-2.0
"""numba.cuda.misc.special: names of the kernel language under their other address."""

from tessera.cuda._device import literal_unroll, literally

__all__ = ["literal_unroll", "literally"]
