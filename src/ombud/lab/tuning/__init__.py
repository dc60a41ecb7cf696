"""Which settings are best, and what each part is worth."""
