"""Accounts, browser logins, API keys (only digests of secrets) and versions of prompts."""
