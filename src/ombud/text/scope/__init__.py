"""For whom, when and how widely a statement holds."""
