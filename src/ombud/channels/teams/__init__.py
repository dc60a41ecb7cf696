"""Microsoft Teams, by the Microsoft 365 Agents SDK."""
