"""Formats of text with markup: HTML, Markdown, and what is read by way of one of these."""
