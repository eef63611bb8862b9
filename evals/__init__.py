"""Evaluations on public, human-labelled packs, through the real engine with the shipped defaults."""
