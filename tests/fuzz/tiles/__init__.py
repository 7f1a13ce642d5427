# SPDX-License-Identifier: Apache-2.0
"""Random tile programs, each run by Tessera and by a second reading of the language on NumPy."""
