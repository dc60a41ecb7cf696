"""What people see: the HTTP API and the pages, on loopback only until there is identity."""

from ombud.web.logs import line_writer
from ombud.web.server import create_app, serve
