"""`/login`: with a password, or by the organisation's provider."""

import asyncio
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from ombud.app import Workspace, provider, sessions, signing_in
from ombud.errors import Busy, NotSignedIn, OmbudError
from ombud.messages import language_names
from ombud.types import Account
from ombud.web.access import FRAME, LOGIN
from ombud.web.admin.forms import read_form
from ombud.web.api import CurrentWorkspace
from ombud.web.layout import LANGUAGE, page
from ombud.web.live.secrets import YEAR
from ombud.web.rate_limit import network_of

BEGUN = "ombud_begun"
"""Cookie of a browser that the provider will send back."""
BEGUN_SECONDS = 600
HOME = "/"
DONE = "/login/done"
MOST_FIELDS = 10

router = APIRouter(include_in_schema=False)
Next = Annotated[str, Query(max_length=2000)]


@router.get("/login", response_class=HTMLResponse)
def login_page(workspace: CurrentWorkspace, next: Next = HOME) -> Response:  # noqa: A002
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
    """Redirect to the identity provider."""
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
    """Handle the redirect from the identity provider."""
    state, _, place = request.cookies.get(BEGUN, "").rpartition(".")
    try:
        begun = provider.read_begun(state)
        parameters = dict(request.query_params)
        account, at = await provider.finish(workspace, _redirect(workspace), begun, parameters)
        secret = await asyncio.to_thread(signing_in.open_browser, workspace, account, at)
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
async def sign_out(request: Request, workspace: CurrentWorkspace) -> Response:
    """Sign out here, then redirect to the identity provider's own sign-out."""
    address = await sessions.logout_address(
        workspace, request.cookies.get(LOGIN, ""), f"{_address(workspace)}/login"
    )
    for secret in (request.cookies.get(LOGIN, ""), request.cookies.get(FRAME, "")):
        if secret:
            await asyncio.to_thread(signing_in.sign_out, workspace, secret)
            request.app.state.callers.forget(secret)
    response: Response = RedirectResponse("/login", status_code=303)
    if address:
        # A page, because `form-action` lets no form lead to another site.
        response = HTMLResponse(page("leaving.html", workspace.settings, place=address))
    response.delete_cookie(LOGIN, path="/")
    if request.cookies.get(FRAME):
        _keep_frame(response, "", 0)
    return response


@router.post("/logout/backchannel")
async def end_sessions(request: Request, workspace: CurrentWorkspace) -> Response:
    """Sign out whom the provider's logout token names (Back-Channel Logout 1.0, 2.5)."""
    form = await read_form(request, most_fields=MOST_FIELDS)
    try:
        if workspace.settings.identity.kind != "oidc":
            raise NotSignedIn("No provider signs people in here.")
        await sessions.end_sessions(workspace, form.one("logout_token"))
    except NotSignedIn as refused:
        error = {"error": "invalid_request", "error_description": f"{refused} {refused.hint}"}
        return JSONResponse(error, status_code=400)
    request.app.state.callers.forget()
    return Response(status_code=200)


@router.get("/login/done", response_class=HTMLResponse)
async def hand_to_frame(request: Request, workspace: CurrentWorkspace) -> Response:
    """Show the page that hands a code to the frame that opened this window."""
    code = await asyncio.to_thread(
        sessions.make_frame_code, workspace, request.cookies.get(LOGIN, "")
    )
    return HTMLResponse(page("done.html", workspace.settings, code=code))


@router.post("/login/frame")
async def sign_in_frame(request: Request, workspace: CurrentWorkspace) -> Response:
    """Sign a frame in by the code of its popup. The cookie counts only inside the page that shows
    the frame (`Partitioned`)."""
    form = await read_form(request, most_fields=MOST_FIELDS)
    redeem = sessions.redeem_frame_code
    secret, seconds = await asyncio.to_thread(redeem, workspace, form.one("code"))
    response = Response(status_code=204)
    _keep_frame(response, secret, int(seconds))
    return response


@router.post("/language")
async def keep_language(request: Request, workspace: CurrentWorkspace) -> Response:
    """Keep the language in a cookie, and show the page again."""
    form = await read_form(request, most_fields=MOST_FIELDS)
    came_from = urlsplit(request.headers.get("referer", ""))
    place = own_path(f"{came_from.path}?{came_from.query}" if came_from.query else came_from.path)
    response = RedirectResponse(place, status_code=303)
    _keep_language(workspace, response, form.one("language"))
    return response


def own_path(place: str) -> str:
    """Accept only a path of this site: to a browser two slashes, or a slash and a backslash, begin
    another site."""
    if place == DONE:
        return place
    is_ours = place.startswith("/") and not place.startswith(("//", "/\\", "/login", "/logout"))
    return place if is_ours and place.isprintable() else HOME


def is_secure(workspace: Workspace) -> bool:
    """Tell whether cookies are sent over TLS only."""
    return workspace.settings.server.public_url.startswith("https://")


def name_of(account: Account | None) -> str:
    return account.name if account else ""


def _redirect(workspace: Workspace) -> str:
    return f"{_address(workspace)}/login/back"


def _address(workspace: Workspace) -> str:
    server = workspace.settings.server
    return server.public_url or f"http://{server.host}:{server.port}"


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


def _keep_frame(response: Response, secret: str, seconds: int) -> None:
    response.set_cookie(
        FRAME, secret, max_age=seconds, httponly=True, secure=True, samesite="none", path="/"
    )
    name, value = response.raw_headers[-1]
    response.raw_headers[-1] = (name, value + b"; Partitioned")  # Starlette needs Python 3.14


def _keep_language(workspace: Workspace, response: Response, language: str) -> None:
    if language in language_names():
        response.set_cookie(
            LANGUAGE,
            language,
            max_age=YEAR,
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
        in_frame="embed=1" in urlsplit(place).query and not failed,
    )
    return HTMLResponse(html, status_code=failed.status if failed else 200)
