"""Metrics: of answers, of rankings, of losses and of risk."""
