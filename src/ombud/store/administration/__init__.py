"""Accounts, browsers, keys of programs (only digests of secrets), versions of prompts."""
