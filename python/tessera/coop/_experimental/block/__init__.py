# SPDX-License-Identifier: Apache-2.0
"""``cuda.coop._experimental.block``."""

from ...block import *
