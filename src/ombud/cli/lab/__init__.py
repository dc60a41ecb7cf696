"""`ombud lab`: its verbs."""
