"""Answers without a model: passages underlined, word for word."""
