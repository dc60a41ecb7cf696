"""The chain over what was answered: appended, verified, erased, forgotten."""
