"""Get access tokens for Microsoft Graph by the secret or certificate of an Entra application.

msal runs the protocol over our own HTTP client, so that the secret goes to the authority's origin
only and retries, limits and messages are the usual ones. Its check of authorities is off, as the
operator configured this one."""

import re
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from msal import ConfidentialClientApplication
from msal.exceptions import MsalError

from ombud.errors import SourceError
from ombud.sources.json_values import as_object
from ombud.sources.site import SiteClient

REASONS = {
    "90002": ("there is no such tenant", "Check tenant, and authority for a national cloud."),
    "700016": (
        "the tenant knows no such application",
        "Check client, and that it belongs to this tenant.",
    ),
    "7000215": (
        "the secret is wrong",
        "The secret's value is needed, not its id: check {variable}.",
    ),
    "7000222": (
        "the secret has expired",
        "Make a new one in the app registration and put it into {variable}.",
    ),
    "700027": (
        "the certificate is not the application's",
        "Upload it in the app registration, or check {variable}.",
    ),
}
"""Number of a sign-in error of Entra (AADSTS…) -> (problem, remedy)."""

_MSAL_ERRORS = (MsalError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions of msal for an answer that it does not expect."""


class Application(NamedTuple):
    """An application registered in Entra."""

    authority: str
    """Address of the sign-in, such as https://login.microsoftonline.com."""
    tenant: str
    client: str
    scope: str
    """Such as https://graph.microsoft.com/.default."""


class AccessToken:
    """Credentials for a `SiteClient`, which several threads may share. Raises SourceError.

    name: name of the source. variable: environment variable of the secret."""

    def __init__(self, name: str, application: Application, *, secret: str, variable: str) -> None:
        self._name = name
        self._registered = application
        self._variable = variable
        self._credential = read_credential(secret, variable)
        authority = application.authority
        host = urlsplit(authority).hostname
        client = SiteClient(f"The sign-in at {host}", authority, credentials={}, hint="")
        self._wire = _Wire(client)
        self._application: ConfidentialClientApplication | None = None
        self._last: Mapping[str, str] = {}
        self._lock = threading.Lock()

    def __call__(self, refused: Mapping[str, str] | None) -> Mapping[str, str]:
        with self._lock:
            # Several threads may be refused with one token: only the first requests a new one.
            if refused is not None and refused == self._last and self._application is not None:
                self._application.remove_tokens_for_client()
            try:
                answer = self._opened().acquire_token_for_client([self._registered.scope])
            except _MSAL_ERRORS as failed:
                raise self._failure(failed) from failed
            token = as_object(answer).get("access_token")
            if not (isinstance(token, str) and token.isascii() and token.isprintable()):
                raise self._denial(answer)
            self._last = {"authorization": f"Bearer {token}", "accept": "application/json, */*"}
            return self._last

    def _opened(self) -> ConfidentialClientApplication:
        """Open the application once, for which msal requests the addresses of the authority."""
        if self._application is None:
            self._application = ConfidentialClientApplication(
                self._registered.client,
                client_credential=self._credential,
                authority=f"{self._registered.authority}/{self._registered.tenant}",
                http_client=self._wire,
                instance_discovery=False,
            )
        return self._application

    def _failure(self, failed: Exception) -> SourceError:
        status = self._wire.status
        if self._application is None and isinstance(failed, ValueError) and status in {400, 404}:
            return self._refusal("90002")
        return SourceError(
            f"The sign-in for source `{self._name}` answered {status} and nothing that can be "
            "used.",
            hint="Try again later; else check authority, and whether a proxy stands before it.",
        )

    def _denial(self, answer: Any) -> SourceError:
        """Make the error for a refusal, with its number only: the rest repeats the request."""
        description = str(as_object(answer).get("error_description", ""))
        number = re.search(r"AADSTS(\d+)", description)
        return self._refusal(number[1] if number else "")

    def _refusal(self, number: str) -> SourceError:
        answered = f"AADSTS{number}" if number else "oddly"
        otherwise = (f"the sign-in answered {answered}", "Look at the app registration.")
        what, hint = REASONS.get(number, otherwise)
        return SourceError(
            f"No token for source `{self._name}`: {what}.",
            hint=hint.format(variable=self._variable),
        )


def read_credential(secret: str, variable: str) -> str | dict[str, str]:
    """Read the secret, or the certificate if it is a PEM of one and its key."""
    if "-----BEGIN" not in secret:
        return secret
    try:
        x509.load_pem_x509_certificate(secret.encode())
        if not isinstance(load_pem_private_key(secret.encode(), None), RSAPrivateKey):
            raise ValueError
    except (ValueError, TypeError) as wrong:
        raise SourceError(
            f"{variable} holds no certificate that can be used.",
            hint="It is one PEM text: the RSA private key, without a passphrase, and the "
            "certificate.",
        ) from wrong
    return {"private_key": secret, "public_certificate": secret}


class _Reply(NamedTuple):
    status_code: int
    headers: Mapping[str, str]
    text: str


class _Wire:
    """The HTTP client that msal expects, over a `SiteClient`."""

    def __init__(self, client: SiteClient) -> None:
        self._client = client
        self.status = 0
        """Status of the last response."""

    def get(self, url: str, *, headers: Mapping[str, str] | None = None, **_: Any) -> _Reply:
        return self._reply(url, headers, None)

    def post(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        data: Mapping[str, str | bytes] | None = None,
        **_: Any,
    ) -> _Reply:
        form: dict[str, str] = {}
        for key, value in (data or {}).items():
            form[key] = value.decode() if isinstance(value, bytes) else value
        return self._reply(url, headers, form)

    def close(self) -> None:
        """Do nothing, as the client closes itself."""

    def _reply(
        self, url: str, headers: Mapping[str, str] | None, form: Mapping[str, str] | None
    ) -> _Reply:
        answer = self._client.exchange(url, headers, form)
        self.status = answer.status
        return _Reply(answer.status, answer.headers, answer.body.decode(errors="replace"))
