"""Which settings are best, what each part is worth, and how much of a figure is noise."""
