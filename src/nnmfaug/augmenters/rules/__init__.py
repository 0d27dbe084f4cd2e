"""Rules mined from paths, and the triples that follow from them."""
