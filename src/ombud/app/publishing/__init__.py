"""Publishing drafts: what would change, whether that is allowed, and putting it in force."""
