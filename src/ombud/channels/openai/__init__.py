"""The OpenAI-compatible endpoint: any client that speaks it can ask."""
