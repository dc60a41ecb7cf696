"""How search texts are made of a question."""
