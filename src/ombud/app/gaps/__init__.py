"""What is asked and not answered, for policy owners."""
