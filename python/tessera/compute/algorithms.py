# SPDX-License-Identifier: Apache-2.0
"""The algorithms, under the name that cuda.compute has for their module."""

from __future__ import annotations

from ._histogram import *  # noqa: F403
from ._made import *  # noqa: F403
from ._made import MAKERS
from ._reduce import *  # noqa: F403
from ._scan import *  # noqa: F403
from ._search import *  # noqa: F403
from ._segmented import *  # noqa: F403
from ._select import *  # noqa: F403
from ._sort import *  # noqa: F403
from ._transform import *  # noqa: F403

globals().update(MAKERS)
