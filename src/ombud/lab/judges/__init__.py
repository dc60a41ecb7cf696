"""Metrics that a chat model gives: rubrics in files, statements checked one by one."""
