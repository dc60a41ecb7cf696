"""The figures that a passage states, each with what it is said of."""
