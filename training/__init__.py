"""How the shipped judge was made: training only, never imported by the package."""
