"""Errors, seeds, progress, parallel work and checks of arguments; knows nothing of graphs."""
