"""`/lab` and `/playground`: what was measured, and trying things out."""
