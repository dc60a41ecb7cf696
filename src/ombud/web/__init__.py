"""What people see: the HTTP API and the pages, on loopback only until there is identity."""

from ombud.web.server import create_app, serve

__all__ = [
    "create_app",
    "serve",
]
