"""How results look: at a terminal, in a file, in help."""
