"""Web sites: crawled politely, page by page."""
