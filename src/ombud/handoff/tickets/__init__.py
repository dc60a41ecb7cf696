"""Ticket systems that take requests out of hours or by choice."""
