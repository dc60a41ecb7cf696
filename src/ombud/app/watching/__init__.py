"""Repeats a set of cases after every change of what answers."""
