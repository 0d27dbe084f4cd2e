"""Errors, seeds, progress, parallel work and checks of arguments; independent of graphs."""
