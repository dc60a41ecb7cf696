"""Teaching triage."""
