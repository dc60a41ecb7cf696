"""Formats of text with markup, beside HTML and Markdown: each is read by way of one of these."""
