"""`ombud lab check` and `ombud publish`."""
