"""Whom a message is for: the documents, a person, or nobody here. Works without a chat model and
better with one."""
