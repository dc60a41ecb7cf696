"""Teaching the complexity router."""
