"""Are the generated triples true? Precision estimated without labels, and the augmenters built on it.

From counts to probabilities, each module resting on those before it: ``holdout`` (which triples are recovered),
``membership`` (the probability that a triple is in the graph), ``completeness`` (the fraction of all facts in the
graph), ``calibration`` (the probability that a triple outside the graph is true), ``precision`` (of n triples),
``mixture`` and ``auto`` (augmenters that rank by it). ``diagnostics`` compares with valid and test.
"""
