"""Arms × seeds: prepare, train, rank, keep."""
