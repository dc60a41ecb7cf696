"""The verbs of `ombud lab` that train models of our own."""
