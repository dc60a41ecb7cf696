"""`/login`: with a password, or by the organisation's provider."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from ombud.app import Workspace, provider, signing_in
from ombud.errors import Busy, NotSignedIn, OmbudError
from ombud.types import Account
from ombud.web.access import LOGIN
from ombud.web.admin.forms import read_form
from ombud.web.api import CurrentWorkspace
from ombud.web.layout import page
from ombud.web.rate_limit import network_of

BEGUN = "ombud_begun"
"""Cookie of a browser that the provider will send back."""
BEGUN_SECONDS = 600
HOME = "/"
MOST_FIELDS = 10

router = APIRouter(include_in_schema=False)
Next = Annotated[str, Query(max_length=2000)]


@router.get("/login", response_class=HTMLResponse)
def login(workspace: CurrentWorkspace, next: Next = HOME) -> Response:  # noqa: A002
    if workspace.settings.identity.kind == "none":
        return RedirectResponse(HOME, status_code=303)
    return _page(workspace, own_path(next))


@router.post("/login")
async def sign_in(request: Request, workspace: CurrentWorkspace) -> Response:
    form = await read_form(request, most_fields=MOST_FIELDS)
    name, password = (form.fields.get(field, [""])[0] for field in ("name", "password"))
    place = own_path(form.one("next"))
    try:
        if workspace.settings.identity.kind != "local":
            raise NotSignedIn("Nobody signs in with a password here.")
        address = request.client.host if request.client else ""
        throttle = request.app.state.throttle
        _, secret = await signing_in.sign_in(
            workspace, throttle, name, password, network_of(address)
        )
    except (NotSignedIn, Busy) as refused:
        return _page(workspace, place, refused, name)
    response = RedirectResponse(place, status_code=303)
    _keep(workspace, response, secret)
    return response


@router.get("/login/provider")
async def to_provider(workspace: CurrentWorkspace, next: Next = HOME) -> Response:  # noqa: A002
    """Off to the provider."""
    try:
        address, begun = await provider.begin(workspace, _redirect(workspace))
    except OmbudError as failed:
        return _page(workspace, own_path(next), failed)
    response = RedirectResponse(address, status_code=303)
    response.set_cookie(
        BEGUN,
        ".".join((*begun, own_path(next).encode().hex())),
        max_age=BEGUN_SECONDS,
        httponly=True,
        secure=is_secure(workspace),
        samesite="lax",
        path="/login",
    )
    return response


@router.get("/login/back")
async def back(request: Request, workspace: CurrentWorkspace) -> Response:
    """Back from the provider."""
    kept, _, place = request.cookies.get(BEGUN, "").rpartition(".")
    try:
        begun = provider.read_begun(kept)
        said = dict(request.query_params)
        account = await provider.finish(workspace, _redirect(workspace), begun, said)
        secret = await asyncio.to_thread(signing_in.open_browser, workspace, account)
    except OmbudError as failed:
        response = _page(workspace, HOME, failed)
    else:
        # A page of our own leads on: a cookie that comes with a redirect from another site is sent
        # along only from the second page on.
        response = RedirectResponse(own_path(_unhexed(place)), status_code=303)
        _keep(workspace, response, secret)
    response.delete_cookie(BEGUN, path="/login")
    return response


@router.post("/logout")
def sign_out(request: Request, workspace: CurrentWorkspace) -> Response:
    secret = request.cookies.get(LOGIN, "")
    if secret:
        signing_in.sign_out(workspace, secret)
        request.app.state.callers.forget(secret)
    response = RedirectResponse("/login", status_code=303)
    response.delete_cookie(LOGIN, path="/")
    return response


def own_path(place: str) -> str:
    """Only a page of ours: what begins with two slashes, or a slash and a backslash, is another
    site to a browser."""
    is_ours = place.startswith("/") and not place.startswith(("//", "/\\", "/login", "/logout"))
    return place if is_ours and place.isprintable() else HOME


def is_secure(workspace: Workspace) -> bool:
    """Whether cookies go over TLS alone."""
    return workspace.settings.server.public_url.startswith("https://")


def name_of(account: Account | None) -> str:
    return account.name if account else ""


def _redirect(workspace: Workspace) -> str:
    server = workspace.settings.server
    return f"{server.public_url or f'http://{server.host}:{server.port}'}/login/back"


def _unhexed(place: str) -> str:
    try:
        return bytes.fromhex(place).decode()
    except ValueError:
        return HOME


def _keep(workspace: Workspace, response: Response, secret: str) -> None:
    response.set_cookie(
        LOGIN,
        secret,
        max_age=workspace.settings.identity.hours * 3600,
        httponly=True,
        secure=is_secure(workspace),
        samesite="lax",
        path="/",
    )


def _page(
    workspace: Workspace, place: str, failed: OmbudError | None = None, name: str = ""
) -> Response:
    html = page(
        "login.html",
        workspace.settings,
        place=place,
        said=str(failed) if failed else "",
        hint=failed.hint if failed else "",
        called=name[:200],
    )
    return HTMLResponse(html, status_code=failed.status if failed else 200)
