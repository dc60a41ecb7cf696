"""Administration on the web pages; the audit chain records each change."""
