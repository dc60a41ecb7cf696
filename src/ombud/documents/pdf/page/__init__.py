"""What stands on the pages of a PDF: words, ruling lines and pictures, as a reader sees them."""
