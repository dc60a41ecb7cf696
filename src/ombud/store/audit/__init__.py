"""The audit chain: appending, verification and erasure."""
