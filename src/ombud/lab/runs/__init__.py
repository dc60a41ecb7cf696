"""A run: cases to a target, kept row by row, resumed, swept."""
