"""The best hits in a better order."""
