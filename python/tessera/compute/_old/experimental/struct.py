# SPDX-License-Identifier: Apache-2.0
"""`tessera.compute.struct`, under its older name."""

from ...struct import *  # noqa: F403
