"""Tables: from plain values to files."""
