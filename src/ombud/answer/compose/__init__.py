"""Evidence and a chat model to claims: prompts, drafts, and the loop of writing and repairing."""
