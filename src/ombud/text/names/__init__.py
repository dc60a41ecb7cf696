"""Names in a text: of people and things, countries, addresses, abbreviations."""
