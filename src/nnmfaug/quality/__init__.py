"""How many generated triples are true, estimated without labels; and the augmenters built on that."""
