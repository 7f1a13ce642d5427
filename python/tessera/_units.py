# SPDX-License-Identifier: Apache-2.0
"""The units of dates and spans of time, from the coarsest to the finest: how many months or attoseconds each has."""

DAY = 86400 * 10**18
MONTHS = {"Y": 12, "M": 1}
SIZES = {
    "W": 7 * DAY, "D": DAY, "h": DAY // 24, "m": DAY // 1440, "s": 10**18, "ms": 10**15, "us": 10**12, "ns": 10**9,
    "ps": 10**6, "fs": 1000, "as": 1,
}  # fmt: skip
UNITS = [*MONTHS, *SIZES]
