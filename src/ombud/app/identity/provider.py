"""Signing in by an OpenID Connect provider: the code flow with a proof key (OpenID Connect Core
1.0, 3.1; RFC 7636)."""

import os
import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

from ombud.app.identity.people import PROVIDER, checked_duties, mark
from ombud.app.identity.signing_in import plain_name
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, MissingExtra, NotAllowed, NotSignedIn, SetupError
from ombud.store import change_account, find_account, find_subject, new_account, note_in_chain
from ombud.types import Account, Duty, Person

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import AsyncOAuth2Client

SECONDS = 10.0
"""For each request to the provider."""
LEEWAY = 60
"""Seconds by which clocks may differ."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
"""Signatures by a key pair alone: with `none` or a shared secret anybody could sign."""
REFUSED = "The provider's answer does not hold."


class Begun(NamedTuple):
    """What the browser that began keeps until it comes back."""

    state: str
    nonce: str
    verifier: str


async def begin(workspace: Workspace, redirect: str) -> tuple[str, Begun]:
    """(address of the provider to go to, what to keep). redirect: where it sends people back.
    Raises SetupError where the provider cannot be reached."""
    begun = Begun(*(secrets.token_urlsafe(32) for _ in Begun._fields))
    facts = await _facts(workspace)
    async with _client(workspace, redirect) as client:
        address, _ = client.create_authorization_url(
            facts["authorization_endpoint"],
            state=begun.state,
            nonce=begun.nonce,
            code_verifier=begun.verifier,
        )
    return str(address), begun


async def finish(
    workspace: Workspace, redirect: str, begun: Begun, said: Mapping[str, str]
) -> Account:
    """Who has come back with `said` in the address. Raises NotSignedIn, NotAllowed, SetupError."""
    if said.get("error"):
        raise NotSignedIn("The provider did not let you in.", hint="Try again, or ask who runs it.")
    if not secrets.compare_digest(said.get("state", "").encode(), begun.state.encode()):
        raise NotSignedIn("This is not the browser that began.", hint="Sign in once more.")
    facts = await _facts(workspace)
    if said.get("iss", facts["issuer"]) != facts["issuer"]:  # RFC 9207
        raise NotSignedIn("Another provider answered.", hint="Sign in once more.")
    tokens = await _tokens(workspace, redirect, begun, said.get("code", ""), facts)
    claims = await _claims(workspace, tokens, begun.nonce, facts)
    return _account(workspace, claims)


async def _facts(workspace: Workspace) -> dict[str, Any]:
    """What the provider says of itself (OpenID Connect Discovery 1.0, 4)."""
    issuer = workspace.settings.identity.issuer
    facts = await _get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if facts.get("issuer") != issuer:
        raise SetupError(
            f"{issuer} calls itself `{facts.get('issuer')}`.",
            hint="Set identity.issuer to that, letter by letter.",
        )
    return facts


async def _get(url: str, token: str = "") -> dict[str, Any]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            reply = await client.get(url, headers=headers)
            reply.raise_for_status()
            said = reply.json()
    except (httpx.HTTPError, ValueError) as failed:
        raise SetupError(
            f"The provider cannot be reached: {type(failed).__name__} at {url}.",
            hint="Check identity.issuer and the network.",
        ) from failed
    if not isinstance(said, dict):
        raise SetupError(f"{url} gave no object.", hint="Check identity.issuer.")
    return said


async def _tokens(
    workspace: Workspace, redirect: str, begun: Begun, code: str, facts: Mapping[str, Any]
) -> Mapping[str, Any]:
    try:
        async with _client(workspace, redirect) as client:
            tokens = await client.fetch_token(
                facts["token_endpoint"], code=code, code_verifier=begun.verifier
            )
    except Exception as failed:
        # Authlib's, httpx's, and what a provider that is none makes of them.
        raise NotSignedIn(REFUSED, hint=f"{type(failed).__name__}. Sign in once more.") from failed
    if not isinstance(tokens.get("id_token"), str):
        raise NotSignedIn(REFUSED, hint="There is no id_token; identity.scopes needs openid.")
    return dict(tokens)


async def _claims(
    workspace: Workspace, tokens: Mapping[str, Any], nonce: str, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """The checks of OpenID Connect Core 1.0, 3.1.3.7."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    settings = workspace.settings.identity
    keys = await _get(facts["jwks_uri"])
    try:
        token = jwt.decode(
            tokens["id_token"],
            KeySet.import_key_set(keys),  # type: ignore[arg-type]
            algorithms=list(ALGORITHMS),
        )
        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": settings.issuer},
            sub={"essential": True},
            aud={"essential": True, "value": settings.client_id},
            exp={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        registry.validate(token.claims)
    except (JoseError, ValueError, KeyError, TypeError) as wrong:
        raise NotSignedIn(REFUSED, hint=f"{type(wrong).__name__}. Sign in once more.") from wrong
    claims = dict(token.claims)
    audience = claims["aud"]
    if isinstance(audience, list) and len(audience) > 1 and claims.get("azp") != settings.client_id:
        raise NotSignedIn(REFUSED, hint="It was made for another application.")
    return await _completed(workspace, claims, tokens, facts)


async def _completed(
    workspace: Workspace,
    claims: dict[str, Any],
    tokens: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """With what the provider tells at its userinfo endpoint only."""
    wanted = workspace.settings.identity.claims.values()
    endpoint = facts.get("userinfo_endpoint")
    if not endpoint or all(_claim(claims, name) is not None for name in wanted):
        return claims
    more = await _get(endpoint, str(tokens.get("access_token", "")))
    if more.get("sub") != claims["sub"]:
        raise NotSignedIn(REFUSED, hint="It speaks of two people.")
    return {**more, **claims}


def account_named(workspace: Workspace, subject: str) -> Account | None:
    """Whom the provider calls so, where they have signed in before and still may."""
    found = find_subject(workspace.store, _digest(workspace, subject))
    return None if found is None or found.disabled else found


def _digest(workspace: Workspace, subject: str) -> str:
    return sha256(f"{workspace.settings.identity.issuer}\n{subject}".encode()).hexdigest()


def _account(workspace: Workspace, claims: Mapping[str, Any]) -> Account:
    """Theirs, as the claims say they are today; made when they come for the first time."""
    settings, store = workspace.settings.identity, workspace.store
    named = claims.get(settings.subject)
    if not isinstance(named, str) or not named:
        raise NotSignedIn(REFUSED, hint=f"It has no claim `{settings.subject}`.")
    subject = _digest(workspace, named)
    person = person_of(claims, settings.claims)
    duties = duties_of(claims, settings.claims["duties"], settings.duties)
    if not duties and not settings.everybody:
        raise NotAllowed(
            "You are known, but not for this.", hint="Ask whoever gives people their roles."
        )
    account = find_subject(store, subject)
    if account is None:
        name = _free_name(workspace, claims, subject)
        account = new_account(store, name, person, checked_duties(duties), subject=subject)
        said = {"action": "person added", "account": mark(account.id), "by": PROVIDER}
        note_in_chain(store, "people", said)
        return account
    if account.disabled:
        raise NotAllowed("This account is disabled.", hint="Ask whoever runs this.")
    # Where the settings give no duties, those that an admin has given stay.
    given = checked_duties(duties) if settings.duties else None
    return change_account(store, account.id, person=person, duties=given)


def _free_name(workspace: Workspace, claims: Mapping[str, Any], subject: str) -> str:
    """As the provider calls them; somebody else may be called so here."""
    said = claims.get("preferred_username") or claims.get("email") or claims["sub"]
    name = plain_name(str(said))[:100]
    return f"{name}-{subject[:8]}" if find_account(workspace.store, name) else name


def person_of(claims: Mapping[str, Any], names: Mapping[str, str]) -> Person:
    """names: what of a person -> its claim. A claim that is missing or makes no sense gives
    nothing, and who has no country reads what is for everybody."""
    country = _first_word(claims, names["country"]).upper()
    language = _first_word(claims, names["language"]).lower()[:2]
    is_language = language.isalpha() and len(language) == 2
    return Person(
        country=_ALIASES.get(country, country) if len(country) == 2 else None,
        roles=tuple(_words(claims, names["roles"])),
        groups=tuple(_words(claims, names["groups"])),
        grade=_first_word(claims, names["grade"]) or None,
        contract=_first_word(claims, names["contract"]) or None,
        language=language if is_language else "en",
    )


_ALIASES = {"UK": "GB"}


def duties_of(
    claims: Mapping[str, Any], name: str, given: Mapping[str, Sequence[Duty]]
) -> list[str]:
    """name: of the claim; given: its values -> duties."""
    duties: list[str] = []
    for value in _words(claims, name):
        duties.extend(given.get(value, ()))
    return duties


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """A dot leads inside, as in `realm_access.roles`, unless the whole name is a claim."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _first_word(claims: Mapping[str, Any], name: str) -> str:
    """Empty where the claim says nothing."""
    words = _words(claims, name)
    return words[0] if words else ""


def _words(claims: Mapping[str, Any], name: str) -> list[str]:
    """What a claim says, which may be one thing or a list."""
    value = _claim(claims, name)
    values = value if isinstance(value, list | tuple) else [value]
    return [str(one)[:200] for one in values if isinstance(one, str | int) and str(one)][:50]


def _client(workspace: Workspace, redirect: str) -> "AsyncOAuth2Client":
    try:
        from authlib.integrations.httpx_client import AsyncOAuth2Client
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            "OpenID Connect needs a package that is not installed.",
            hint="pip install 'ombud[oidc]'",
        ) from missing
    settings = workspace.settings.identity
    secret = os.environ.get(settings.secret_env, "").strip()
    return AsyncOAuth2Client(
        client_id=settings.client_id,
        client_secret=secret or None,
        token_endpoint_auth_method="client_secret_basic" if secret else "none",
        scope=" ".join(settings.scopes),
        redirect_uri=redirect,
        code_challenge_method="S256",
        timeout=SECONDS,
    )


def read_begun(kept: str) -> Begun:
    """Of a cookie. Raises BadRequest."""
    parts = kept.split(".")
    if len(parts) != len(Begun._fields) or not all(parts):
        raise BadRequest(
            "Signing in took too long, or began in another browser.", hint="Once more."
        )
    return Begun(*parts)
