"""Evaluations on public, human-labelled packs, through the real engine as it ships."""
