# SPDX-License-Identifier: Apache-2.0
"""Small helpers under the names that programs reach into the peer for."""
