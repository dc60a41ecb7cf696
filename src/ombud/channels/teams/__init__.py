"""Microsoft Teams, with the Microsoft 365 Agents SDK."""
