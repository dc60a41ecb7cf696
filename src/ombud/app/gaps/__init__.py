"""Unanswered questions, for policy owners."""
