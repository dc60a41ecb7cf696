"""PDF: words, lines, tables, headings, and scanned pages."""
