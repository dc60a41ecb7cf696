"""What lets several processes and machines work on one organisation."""
