"""Cases: files, splits, exchange formats, and quotes found again in what was returned."""
