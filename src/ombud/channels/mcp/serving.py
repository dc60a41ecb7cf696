"""`ombud mcp` and `/mcp`: three read-only tools."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.routing import BaseRoute, Route

from ombud.app import Workspace
from ombud.errors import SetupError

if TYPE_CHECKING:
    from mcp.server import MCPServer

INSTRUCTIONS = (
    "Questions about the policies of an organisation. `ask` answers with proof; give the "
    "person's country, for rules differ. Quote its text with the numbers of its citations."
)


class MountedServer(NamedTuple):
    """The routes of the MCP server and the context that runs it."""

    routes: list[BaseRoute]
    running: Callable[[], AbstractAsyncContextManager[Any]]
    """Context that must stay entered while requests are served."""


def open_server(workspace: Workspace) -> "MCPServer":
    """Make the MCP server. Raises SetupError if the extra is not installed."""
    try:
        from mcp.server import MCPServer
        from mcp.types import ToolAnnotations

        from ombud.channels.mcp.tools import Tools
    except ModuleNotFoundError as missing:
        raise SetupError(
            "MCP needs a package that is not installed.", hint="pip install 'ombud[mcp]'"
        ) from missing
    server: MCPServer = MCPServer("ombud", instructions=INSTRUCTIONS, log_level="WARNING")
    reads = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    tools = Tools(workspace)
    for tool in (tools.ask, tools.search, tools.get_document):
        server.add_tool(tool, annotations=reads)
    return server


def mounted(workspace: Workspace) -> MountedServer | None:
    """Make the routes for the web server, which itself checks host, origin, size and rate; None if
    the extra is not installed."""
    try:
        server = open_server(workspace)
    except SetupError:
        return None
    from mcp.server.transport_security import TransportSecuritySettings

    app = server.streamable_http_app(
        streamable_http_path="/mcp",
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    # Only POST: the server is stateless, so the stream that a GET opens would stay silent and hold
    # a connection.
    routes: list[BaseRoute] = []
    for route in app.routes:
        if isinstance(route, Route):
            routes.append(Route(route.path, route.endpoint, methods=["POST"]))
    return MountedServer(routes, server.session_manager.run)
