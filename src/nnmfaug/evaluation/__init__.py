"""From ranks to metrics, intervals and verdicts. Needs no torch."""
