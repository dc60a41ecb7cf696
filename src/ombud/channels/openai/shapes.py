"""What clients send, and errors as they expect them. Fields that we do not know are let be: clients
send many."""

import re
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ombud.errors import OmbudError
from ombud.types import MOST_MESSAGES, Person

LARGEST_MESSAGE = 200_000
"""Characters of one before the question, which may hold a pasted document; its beginning counts."""
LONGEST_QUESTION = 4_000


class WrongRequestError(Exception):
    """What the client has to change."""

    def __init__(self, message: str, *, param: str = "", code: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.param, self.code, self.status = param, code, status


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ContentPart(_Lenient):
    type: str
    text: str = ""


class ChatMessage(_Lenient):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    def text(self) -> str:
        """Raises WrongRequestError for what is no text."""
        if isinstance(self.content, list):
            for part in self.content:
                if part.type not in ("text", "input_text"):
                    raise WrongRequestError(
                        f"Messages of type `{part.type}` are not read: write it in words.",
                        param="messages",
                    )
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(_Lenient):
    include_usage: bool = False


class ChatRequest(_Lenient):
    model: str = Field(max_length=200)
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    metadata: dict[str, Any] = {}
    """country, role, grade, contract, as_of: whose rules apply, and on which day."""
    user: str = Field("", max_length=200)

    @field_validator("metadata", "stream_options", mode="before")
    @classmethod
    def _null_is_nothing(cls, value: Any, info: Any) -> Any:
        return {} if value is None and info.field_name == "metadata" else value

    @property
    def with_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)

    def person(self, persona: str) -> Person:
        """Raises WrongRequestError."""
        fields: dict[str, Any] = {"id": self.user, "persona": persona, "country": self._country()}
        for name in ("grade", "contract", "language"):
            if self.metadata.get(name):
                fields[name] = self.metadata[name]
        if self.metadata.get("role"):
            fields["roles"] = (str(self.metadata["role"]),)
        try:
            return Person(**fields)
        except ValidationError as wrong:
            raise WrongRequestError("The metadata name nobody.", param="metadata") from wrong

    def _country(self) -> str | None:
        country = str(self.metadata.get("country") or "").upper()
        if not country:
            return None
        if not re.fullmatch("[A-Z]{2}", country):
            raise WrongRequestError(
                f"`{country[:20]}` is no country: two letters, such as GB.",
                param="metadata.country",
            )
        return country

    def day(self) -> date | None:
        """Raises WrongRequestError."""
        asked = self.metadata.get("as_of")
        if not asked:
            return None
        try:
            return date.fromisoformat(str(asked))
        except ValueError as wrong:
            raise WrongRequestError(
                "as_of is no day: such as 2026-01-31.", param="metadata.as_of"
            ) from wrong


def error_json(error: Exception) -> tuple[int, dict[str, Any]]:
    """(status, body) of what went wrong, as OpenAI's clients read it."""
    if isinstance(error, WrongRequestError):
        return error.status, _body(
            str(error), "invalid_request_error", param=error.param, code=error.code
        )
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return 400, _body(f"{place}: {first['msg']}", "invalid_request_error", param=place)
    if isinstance(error, OmbudError):
        kind = "invalid_request_error" if error.status < 500 else "server_error"
        return error.status, _body(f"{error} {error.hint}".strip(), kind)
    return 500, _body("Something went wrong on the server.", "server_error")


def _body(message: str, kind: str, *, param: str = "", code: str = "") -> dict[str, Any]:
    return {
        "error": {"message": message, "type": kind, "param": param or None, "code": code or None}
    }
