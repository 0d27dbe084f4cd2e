"""The commands of ``nnmfaug``, and what they print."""
