"""Tables and figures: from plain values to files. Matplotlib is loaded when a figure is drawn."""
