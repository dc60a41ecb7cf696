"""Coordination of several processes and machines that work on one organisation."""
