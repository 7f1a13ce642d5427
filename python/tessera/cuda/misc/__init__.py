# SPDX-License-Identifier: Apache-2.0
"""numba.cuda.misc: see ``special``."""
