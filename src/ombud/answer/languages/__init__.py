"""Answers in other languages than the documents."""
