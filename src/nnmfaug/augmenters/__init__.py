"""From a train graph to a distribution over new triples."""
