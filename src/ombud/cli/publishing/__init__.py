"""`ombud publish`, and its check."""
