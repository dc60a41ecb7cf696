"""Sign-in by an OpenID Connect provider: the code flow with a proof key (OpenID Connect Core 1.0,
3.1; RFC 7636)."""

import os
import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

from ombud.app.identity.callers import rules_of, with_groups
from ombud.app.identity.described import describe
from ombud.app.identity.people import PROVIDER, checked_duties, mark
from ombud.app.identity.signing_in import plain_name
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, MissingExtra, NotAllowed, NotSignedIn, SetupError
from ombud.settings import IdentitySettings
from ombud.store import (
    change_account,
    directory,
    find_account,
    find_subject,
    keys,
    new_account,
    note_in_chain,
)
from ombud.types import Account, Duty, Person

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import AsyncOAuth2Client

SECONDS = 10.0
"""Timeout of each request to the provider."""
LEEWAY = 60
"""Seconds by which clocks may differ."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
"""Signature algorithms with key pairs only: with `none` or a shared secret anybody could sign."""
REFUSED = "The provider's answer does not hold."


class Begun(NamedTuple):
    """State of a sign-in that the browser stores until it comes back from the provider."""

    state: str
    nonce: str
    verifier: str


async def begin(workspace: Workspace, redirect: str) -> tuple[str, Begun]:
    """Return (address of the provider, data for the browser). redirect: where the provider sends
    people back. Raises SetupError if the provider cannot be reached."""
    begun = Begun(*(secrets.token_urlsafe(32) for _ in Begun._fields))
    facts = await provider_metadata(workspace)
    async with oauth_client(workspace, redirect) as client:
        address, _ = client.create_authorization_url(
            facts["authorization_endpoint"],
            state=begun.state,
            nonce=begun.nonce,
            code_verifier=begun.verifier,
        )
    return str(address), begun


async def finish(
    workspace: Workspace, redirect: str, begun: Begun, reply: Mapping[str, str]
) -> tuple[Account, keys.ProviderSession]:
    """Return (account, session) of who has come back from the provider. Raises NotSignedIn,
    NotAllowed, SetupError."""
    if reply.get("error"):
        raise NotSignedIn("The provider did not let you in.", hint="Try again, or ask who runs it.")
    if not secrets.compare_digest(reply.get("state", "").encode(), begun.state.encode()):
        raise NotSignedIn("This is not the browser that began.", hint="Sign in once more.")
    facts = await provider_metadata(workspace)
    if reply.get("iss", facts["issuer"]) != facts["issuer"]:  # RFC 9207
        raise NotSignedIn("Another provider answered.", hint="Sign in once more.")
    tokens = await fetch_tokens(workspace, redirect, begun, reply.get("code", ""), facts)
    claims = await verify_id_token(workspace, tokens, begun.nonce, facts)
    session = keys.ProviderSession(
        session=str(claims.get("sid", "")), subject=claims["sub"], proof=tokens["id_token"]
    )
    return account_of(workspace, claims), session


async def provider_metadata(workspace: Workspace) -> dict[str, Any]:
    """Fetch the provider's metadata (OpenID Connect Discovery 1.0, 4)."""
    issuer = workspace.settings.identity.issuer
    facts = await fetch_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if facts.get("issuer") != issuer:
        raise SetupError(
            f"{issuer} calls itself `{facts.get('issuer')}`.",
            hint="Set identity.issuer to that, letter by letter.",
        )
    return facts


async def fetch_json(url: str, token: str = "") -> dict[str, Any]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            reply = await client.get(url, headers=headers)
            reply.raise_for_status()
            content = reply.json()
    except (httpx.HTTPError, ValueError) as failed:
        raise SetupError(
            f"The provider cannot be reached: {type(failed).__name__} at {url}.",
            hint="Check identity.issuer and the network.",
        ) from failed
    if not isinstance(content, dict):
        raise SetupError(f"{url} gave no object.", hint="Check identity.issuer.")
    return content


async def fetch_tokens(
    workspace: Workspace, redirect: str, begun: Begun, code: str, facts: Mapping[str, Any]
) -> Mapping[str, Any]:
    try:
        async with oauth_client(workspace, redirect) as client:
            tokens = await client.fetch_token(
                facts["token_endpoint"], code=code, code_verifier=begun.verifier
            )
    except Exception as failed:
        # Errors of Authlib and httpx, or of parsing a reply that is not a provider's.
        raise NotSignedIn(REFUSED, hint=f"{type(failed).__name__}. Sign in once more.") from failed
    if not isinstance(tokens.get("id_token"), str):
        raise NotSignedIn(REFUSED, hint="There is no id_token; identity.scopes needs openid.")
    return dict(tokens)


async def verify_id_token(
    workspace: Workspace, tokens: Mapping[str, Any], nonce: str, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Verify the id token by OpenID Connect Core 1.0, 3.1.3.7, and return its claims."""
    wanted = {"sub": {"essential": True}, "nonce": {"essential": True, "value": nonce}}
    _, claims = await verify_token(workspace, tokens["id_token"], facts, wanted)
    claims = await with_all_groups(workspace.settings.identity, claims, tokens)
    return await with_userinfo(workspace, claims, tokens, facts)


async def verify_token(
    workspace: Workspace, token: str, facts: Mapping[str, Any], wanted: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Verify a token that the provider has signed for this application, and return (header,
    claims). wanted: what else its claims must hold. Raises NotSignedIn."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    settings = workspace.settings.identity
    published = await fetch_json(facts["jwks_uri"])
    try:
        decoded = jwt.decode(
            token,
            KeySet.import_key_set(published),  # type: ignore[arg-type]
            algorithms=list(ALGORITHMS),
        )
        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": settings.issuer},
            aud={"essential": True, "value": settings.client_id},
            exp={"essential": True},
            **wanted,
        )
        registry.validate(decoded.claims)
    except (JoseError, ValueError, KeyError, TypeError) as wrong:
        raise NotSignedIn(REFUSED, hint=f"{type(wrong).__name__}. Sign in once more.") from wrong
    claims = dict(decoded.claims)
    audience = claims["aud"]
    if isinstance(audience, list) and len(audience) > 1 and claims.get("azp") != settings.client_id:
        raise NotSignedIn(REFUSED, hint="It was made for another application.")
    return dict(decoded.header), claims


async def with_all_groups(
    settings: IdentitySettings, claims: dict[str, Any], tokens: Mapping[str, Any]
) -> dict[str, Any]:
    """Replace the reference that Entra ID puts in place of more groups than a token holds by the
    groups, which Microsoft Graph names. The address in the token is not followed.

    https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference describes both.
    """
    names = claims.get("_claim_names")
    is_cut = claims.get("hasgroups") or (isinstance(names, Mapping) and "groups" in names)
    if not is_cut or "groups" not in settings.claims.values():
        return claims
    # Graph resolves nested groups itself, and refuses where there are more than it can list.
    url = f"{settings.graph.rstrip('/')}/v1.0/me/getMemberGroups"
    headers = {"authorization": f"Bearer {tokens.get('access_token', '')}"}
    try:
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            reply = await client.post(url, json={"securityEnabledOnly": False}, headers=headers)
            reply.raise_for_status()
            groups = reply.json()["value"]
        if not (isinstance(groups, list) and all(isinstance(one, str) for one in groups)):
            raise ValueError("not a list of ids")
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as failed:
        status = getattr(getattr(failed, "response", None), "status_code", type(failed).__name__)
        raise NotSignedIn(
            "You are in more groups than your sign-in names, and they cannot be looked up.",
            hint=f"Microsoft Graph answered {status}. Whoever runs this: identity.scopes needs "
            "https://graph.microsoft.com/User.Read, and the application that permission.",
        ) from failed
    return {**claims, "groups": groups}


async def with_userinfo(
    workspace: Workspace,
    claims: dict[str, Any],
    tokens: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """Add claims that the provider has only at its userinfo endpoint."""
    wanted = workspace.settings.identity.claims.values()
    endpoint = facts.get("userinfo_endpoint")
    if not endpoint or all(claim_value(claims, name) is not None for name in wanted):
        return claims
    more = await fetch_json(endpoint, str(tokens.get("access_token", "")))
    if more.get("sub") != claims["sub"]:
        raise NotSignedIn(REFUSED, hint="The two replies name different people.")
    return {**more, **claims}


def account_named(workspace: Workspace, subject: str) -> Account | None:
    """Return the enabled account of a provider's subject, if it has signed in before."""
    account = find_subject(workspace.store, subject_digest(workspace, subject))
    return None if account is None or account.disabled else with_groups(workspace, account)


def subject_digest(workspace: Workspace, subject: str) -> str:
    return sha256(f"{workspace.settings.identity.issuer}\n{subject}".encode()).hexdigest()


def account_of(workspace: Workspace, claims: Mapping[str, Any]) -> Account:
    """Return the account, updated from today's claims; create it on the first sign-in."""
    settings, store = workspace.settings.identity, workspace.store
    subject = subject_digest(workspace, subject_of(settings, claims))
    person = person_of(claims, settings.claims)
    duties = duties_of(claims, settings.claims["duties"], settings.duties)
    account = find_subject(store, subject)
    if account is not None:
        describing = partial(describe, settings)
        person = directory.save_claims(store, account.id, person, describing) or person
    by_groups = any(rule.duties for rule in rules_of(workspace, person))
    if not (duties or by_groups or settings.everybody):
        raise NotAllowed(
            "Your account has no access here.", hint="Ask whoever gives people their roles."
        )
    if account is None:
        name = free_name(workspace, claims, subject)
        account = new_account(store, name, person, checked_duties(duties), subject=subject)
        facts = {"action": "person added", "account": mark(account.id), "by": PROVIDER}
        note_in_chain(store, "people", facts)
        return account
    if account.disabled:
        raise NotAllowed("This account is disabled.", hint="Ask whoever runs this.")
    # Without duties in the settings, those that an admin gave stay.
    granted = checked_duties(duties) if settings.duties else None
    return change_account(store, account.id, person=person, duties=granted)


def subject_of(settings: IdentitySettings, claims: Mapping[str, Any]) -> str:
    """Return the provider's name for the person. Raises NotSignedIn."""
    named = claims.get(settings.subject)
    if not isinstance(named, str) or not named:
        raise NotSignedIn(REFUSED, hint=f"It has no claim `{settings.subject}`.")
    return named


def free_name(workspace: Workspace, claims: Mapping[str, Any], subject: str) -> str:
    """Return the provider's name for the person, changed if another account has it. Raises
    NotAllowed if the directory has provisioned that account."""
    claim = claims.get("preferred_username") or claims.get("email") or claims["sub"]
    name = plain_name(str(claim))[:100]
    if directory.list_users(workspace.store, user_name=name):
        # A second account would stay when the directory disables the first.
        raise NotAllowed(
            "Your directory knows you by another id than your sign-in.",
            hint="Whoever runs this: `externalId` of SCIM must be the claim identity.subject.",
        )
    return f"{name}-{subject[:8]}" if find_account(workspace.store, name) else name


def person_of(claims: Mapping[str, Any], names: Mapping[str, str]) -> Person:
    """Build a person from claims. names: field -> its claim. Missing or invalid claims are left
    out, and a person without a country reads only global documents."""
    country = first_value(claims, names["country"]).upper()
    language = first_value(claims, names["language"]).lower()[:2]
    is_language = language.isalpha() and len(language) == 2
    return Person(
        country=_ALIASES.get(country, country) if len(country) == 2 else None,
        roles=tuple(claim_values(claims, names["roles"])),
        groups=tuple(claim_values(claims, names["groups"])),
        grade=first_value(claims, names["grade"]) or None,
        contract=first_value(claims, names["contract"]) or None,
        language=language if is_language else "en",
    )


_ALIASES = {"UK": "GB"}


def duties_of(
    claims: Mapping[str, Any], name: str, granted: Mapping[str, Sequence[Duty]]
) -> list[str]:
    """Return the duties that a claim grants. name: of the claim; granted: its values -> duties."""
    duties: list[str] = []
    for value in claim_values(claims, name):
        duties.extend(granted.get(value, ()))
    return duties


def claim_value(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim; a dot leads into an object, as in `realm_access.roles`, unless the whole name
    is a claim."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def first_value(claims: Mapping[str, Any], name: str) -> str:
    """Return the first value of a claim; empty if it has none."""
    words = claim_values(claims, name)
    return words[0] if words else ""


def claim_values(claims: Mapping[str, Any], name: str) -> list[str]:
    """Return the values of a claim, which may be a list or a single value."""
    value = claim_value(claims, name)
    values = value if isinstance(value, list | tuple) else [value]
    return [str(one)[:200] for one in values if isinstance(one, str | int) and str(one)][:200]


def oauth_client(workspace: Workspace, redirect: str) -> "AsyncOAuth2Client":
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


def read_begun(cookie: str) -> Begun:
    """Parse the browser's cookie. Raises BadRequest."""
    parts = cookie.split(".")
    if len(parts) != len(Begun._fields) or not all(parts):
        raise BadRequest(
            "Signing in took too long, or began in another browser.", hint="Once more."
        )
    return Begun(*parts)
