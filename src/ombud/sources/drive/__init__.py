"""Google Drive."""
