"""From ranks to metrics, intervals, verdicts and the comparison document. Needs no torch."""
