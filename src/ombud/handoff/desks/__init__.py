"""Where advisors work: our own page, or a system that the organisation has."""
