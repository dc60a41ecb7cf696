"""Spreadsheets beside those of Excel: separated values, OpenDocument, and Excel before 2007."""
