"""The kinds of arrays that functions take and return."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Real numbers."""
Bools = NDArray[np.bool_]
Ids = NDArray[np.int64]
"""Ids and keys to calculate with."""
IntArray = NDArray[np.int32]
"""Ids as graphs keep them."""
Places = NDArray[np.intp]
"""Positions in another array."""
