"""The verbs of `ombud lab` by which people have their say."""
