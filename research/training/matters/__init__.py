"""How people ask about the matters of working life, and how policies answer."""
