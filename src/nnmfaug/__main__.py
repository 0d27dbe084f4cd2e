"""``python -m nnmfaug`` is the program ``nnmfaug``."""

from nnmfaug.cli import main

main()
