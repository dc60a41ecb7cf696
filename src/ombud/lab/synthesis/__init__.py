"""Cases that a chat model writes from passages, cleaned by checks, sampled by document size."""
