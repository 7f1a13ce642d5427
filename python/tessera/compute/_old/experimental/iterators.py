# SPDX-License-Identifier: Apache-2.0
"""`tessera.compute.iterators`, under its older name."""

from ...iterators import *  # noqa: F403
