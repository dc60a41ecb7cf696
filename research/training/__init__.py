"""Training: how each weight file that ships is made. `research/README.md` lists the commands."""
