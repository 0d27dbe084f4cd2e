"""Types of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Real numbers."""
Bools = NDArray[np.bool_]
"""Masks."""
Ids = NDArray[np.int64]
"""Ids and keys in calculations."""
IntArray = NDArray[np.int32]
"""Ids as graphs store them."""
Places = NDArray[np.intp]
"""Positions in another array."""
