"""Advisors work in any Matrix client: each conversation is a room, to which they are invited."""

from ombud_matrix.line import MatrixDesk, open_matrix

__all__ = ["MatrixDesk", "open_matrix"]
