"""Desks where advisors work: our own page, or another system of the organisation."""
