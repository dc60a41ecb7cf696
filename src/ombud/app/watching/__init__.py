"""A set of cases that is asked again after every change of what answers."""
