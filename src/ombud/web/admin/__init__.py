"""`/admin`: sources, documents, drafts, prompts, flags, people, the audit and how it is used."""
