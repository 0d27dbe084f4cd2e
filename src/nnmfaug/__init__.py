"""Knowledge graph data augmentation that is measured.

The names of ``__init__.pyi`` are imported when they are first used, so ``import nnmfaug`` is light.

Examples
--------
>>> import nnmfaug as na
>>> splits = na.read_splits("umls")
>>> len(splits.train), splits.train.n_entities, splits.train.n_relations
(5216, 135, 46)
"""

from importlib.metadata import version as _version

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
__version__ = _version("nnmfaug")
