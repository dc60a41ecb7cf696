"""`/scim/v2`: where a directory provisions people and groups (RFC 7644)."""

import asyncio
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from ombud.app import Workspace
from ombud.errors import MissingExtra, NotFound
from ombud.web.access import SCIM_METHODS

if TYPE_CHECKING:
    from ombud.app import provisioning

router = APIRouter(include_in_schema=False)
BASE = "/scim/v2"


def opened_scim(workspace: Workspace) -> "provisioning.Provisioning | None":
    """Return the service; None if the settings name no token. Raises SetupError."""
    if not workspace.settings.identity.scim_token_env:
        return None
    try:
        from ombud.app import provisioning
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            "SCIM needs a package that is not installed.", hint="pip install 'ombud[scim]'"
        ) from missing
    return provisioning.Provisioning(workspace)


@router.api_route(BASE + "/{path:path}", methods=list(SCIM_METHODS))
async def provision(path: str, request: Request) -> Response:
    """Pass a request to the service."""
    service: provisioning.Provisioning | None = request.app.state.scim
    if service is None:
        raise NotFound("No directory provisions people here.", hint="Set identity.scim_token_env.")
    from scim2_server.requests import ScimRequest

    workspace: Workspace = request.app.state.workspace
    base = workspace.settings.server.public_url or str(request.base_url).rstrip("/")
    asked = ScimRequest(
        method=request.method,
        base_url=base + BASE,
        path=f"/{path}",
        query=dict(request.query_params),
        headers=request.headers.items(),
        body=await request.body(),
    )
    response = await asyncio.to_thread(service.handle, asked)
    if request.method != "GET":
        request.app.state.callers.forget()
    if response.body is None:
        return Response(status_code=response.status, headers=response.headers)
    return JSONResponse(response.body, status_code=response.status, headers=response.headers)
