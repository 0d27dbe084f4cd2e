"""Find missing triples of a knowledge graph, estimate how many are true, and test whether they help.

``docs/api.md`` explains the public names, ``__init__.pyi`` says where each is defined. A name is imported when it
is first used, so ``import nnmfaug`` is fast.

Examples
--------
>>> import nnmfaug as na
>>> splits = na.read_splits("umls")
>>> len(splits.train), splits.train.n_entities, splits.train.n_relations
(5216, 135, 46)
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
__version__ = "0.2.0.dev0"
