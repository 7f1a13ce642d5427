# SPDX-License-Identifier: Apache-2.0
"""Host objects on the mock driver."""

from tests.python.cuda.host_objects import *  # noqa: F403
