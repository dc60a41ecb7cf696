"""The OpenAI-compatible endpoint."""
