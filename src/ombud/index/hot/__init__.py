"""The index in memory, in front of the engine that stores it."""
