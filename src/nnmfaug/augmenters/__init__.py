"""From a train graph to a distribution over new triples.

Augmenters that need calibration, ``Mixture`` and ``Auto``, are in :mod:`nnmfaug.quality`.
"""
