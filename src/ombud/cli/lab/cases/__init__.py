"""The verbs of `ombud lab` that make, change and hand on cases."""
