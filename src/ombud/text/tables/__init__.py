"""Days and periods that a question names."""
