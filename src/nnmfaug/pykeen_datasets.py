"""``pipeline(dataset="dl50a")``: PyKEEN finds the data set through its entry point, by the name of the class.

This module must not import ``pykeen.training``: PyKEEN loads it during its own import.
"""

from __future__ import annotations

from docdata import parse_docdata
from pykeen.datasets.base import LazyDataset

from nnmfaug.io import read_splits, to_pykeen


@parse_docdata
class DL50a(LazyDataset):
    """Layers and settings of 50 deep learning architectures, over the entities of all splits.

    As published; the paper's table states other numbers of entities and relations, see ``docs/datasets.md``.

    ---
    name: DL50a
    statistics:
        entities: 1971
        relations: 22
        training: 5993
        testing: 1249
        validation: 770
        triples: 8012
    citation:
        author: pykg2vec
        link: https://github.com/Sujit-O/pykg2vec
        year: 2019
    """

    def __init__(self, *, create_inverse_triples: bool = False, **_: object) -> None:
        self._create_inverse_triples = create_inverse_triples

    def _load(self) -> None:
        import nnmfaug.pykeen  # noqa: F401  # registers training_loop="nnmfaug"

        splits = read_splits("dl50a")
        self._training = to_pykeen(splits.train, reciprocal=self._create_inverse_triples)
        self._validation = to_pykeen(splits.valid)
        self._testing = to_pykeen(splits.test)

    def _load_validation(self) -> None:
        """Do nothing: ``_load`` loads all splits."""
