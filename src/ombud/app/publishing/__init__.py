"""Drafts on their way into force: what would change, whether that may be, and putting it in
force."""
