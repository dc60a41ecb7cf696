"""Access tokens for Google Drive, by the key of a service account or an OAuth refresh token.

google-auth runs the protocol over our own HTTP client, so that the key goes to its token address
only and retries, limits and messages are the usual ones."""

import json
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from google.auth.exceptions import GoogleAuthError, RefreshError
from google.auth.transport import Request
from google.oauth2 import credentials, service_account

from ombud.errors import SourceError
from ombud.sources.site import SiteClient

# google-auth has no types for these.
ServiceAccount: Any = service_account.Credentials
AuthorisedUser: Any = credentials.Credentials
SCOPES = ["https://www.googleapis.com/auth/drive.readonly"]
TOKEN_ADDRESS = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address


class DriveToken:
    """Credentials for a `SiteClient`, which several threads may share. Raises SourceError.

    key: JSON of a service account, or of an authorised user with a refresh token. variable:
    environment variable of the key. subject: address of the person to act for, if any."""

    def __init__(self, name: str, key: str, variable: str, subject: str) -> None:
        self._name = name
        self._variable = variable
        self._lock = threading.Lock()
        try:
            info = json.loads(key)
            if info.get("type") == "service_account":
                self._credentials: Any = ServiceAccount.from_service_account_info(
                    info, scopes=SCOPES, subject=subject or None
                )
            else:
                info = {"token_uri": TOKEN_ADDRESS, **info}
                self._credentials = AuthorisedUser(
                    None,
                    refresh_token=info["refresh_token"],
                    token_uri=info["token_uri"],
                    client_id=info["client_id"],
                    client_secret=info["client_secret"],
                )
        except (ValueError, LookupError, AttributeError, TypeError, GoogleAuthError) as wrong:
            # Not chained: the error may quote the key.
            del wrong
            raise self._failure(
                "is no key",
                "It is the JSON of a service account's key, or of an OAuth client "
                "with client_id, client_secret and refresh_token.",
            ) from None
        address = str(info.get("token_uri") or TOKEN_ADDRESS)
        client = SiteClient("The sign-in of Google", address, credentials={}, hint="")
        self._wire = TokenWire(client)

    def __call__(self, refused: Mapping[str, str] | None) -> Mapping[str, str]:
        with self._lock:
            # Several threads may be refused with one token: only the first requests a new one.
            if not self._credentials.valid or refused == self._headers:
                try:
                    self._credentials.refresh(self._wire)
                except RefreshError as denied:
                    reason = next(iter(denied.args), "no reason")
                    hint = "Make a new key, and check that the account was not disabled."
                    raise self._failure(f"is not accepted ({reason})", hint) from None
                except (GoogleAuthError, ValueError) as failed:
                    hint = "Try again later."
                    raise self._failure(f"got no token ({type(failed).__name__})", hint) from None
            return self._headers

    @property
    def _headers(self) -> Mapping[str, str]:
        return {"authorization": f"Bearer {self._credentials.token}"}

    def _failure(self, what: str, hint: str) -> SourceError:
        return SourceError(f"{self._variable} of source `{self._name}` {what}.", hint=hint)


class WireReply(NamedTuple):
    """A reply as google-auth reads it."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class TokenWire(Request):
    """The transport that google-auth expects, over a `SiteClient`."""

    def __init__(self, client: SiteClient) -> None:
        self._client = client

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> WireReply:
        """Send a request of google-auth. timeout: ours counts instead."""
        del timeout
        form = dict(parse_qsl((body or b"").decode())) if method == "POST" else None
        answer = self._client.exchange(url, headers, form)
        return WireReply(answer.status, answer.headers, answer.body)
