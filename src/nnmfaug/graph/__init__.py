"""Knowledge graphs in memory: names, triples, splits, counts, descriptions, a synthetic graph."""
