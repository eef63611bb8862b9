"""Property tests draw the same examples every time: a failure is a failure for everybody."""

from __future__ import annotations

from hypothesis import settings

# Enough to find what the oracle has found so far, few enough for the folder to run in seconds.
settings.register_profile("protocol", derandomize=True, max_examples=30, deadline=None)
settings.load_profile("protocol")
