"""Speed, measured on real text and real parts; embedding is left out. See docs/results."""
