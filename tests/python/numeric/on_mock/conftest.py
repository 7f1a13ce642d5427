# SPDX-License-Identifier: Apache-2.0
"""The mock's state (tests/mock/mock.h)."""

from tests.python.mock_driver import mock  # noqa: F401  a fixture
