"""Office files: Word, LibreOffice, slides, spreadsheets."""
