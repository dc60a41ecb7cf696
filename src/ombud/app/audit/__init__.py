"""Verify, replay, forget, certify: what an auditor asks for."""
