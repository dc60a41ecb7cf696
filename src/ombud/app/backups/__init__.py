"""Backup of a workspace in one file, restoring and migration."""
