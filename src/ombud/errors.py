"""Everything that can go wrong, on one page.

OmbudError
├── SetupError            the operator can fix it: exit code 2, HTTP 500
│   ├── BadSetting        a key in ombud.toml or the environment
│   ├── UnknownName       no such engine, model, source, metric, strategy: HTTP 422
│   └── MissingExtra      an optional dependency is not installed
├── BadRequest            a question, a date, a file of cases that is unreadable: exit 2, HTTP 422
│   ├── NotSignedIn       nobody has signed in, or no longer: HTTP 401
│   └── NotAllowed        not for whoever asks: HTTP 403
├── NotFound              no such document, answer or conversation: HTTP 404
├── Busy                  someone else holds the lease: exit code 3, HTTP 409
├── TooMuchWork           one person has used up their CPU time: HTTP 429
├── SourceError           one document or site; ingest reports it and goes on
├── ModelError            a chat model or embedder call: HTTP 502
│   ├── ModelUnavailable  worth retrying: HTTP 503
│   ├── BudgetSpent       the money for models of this day is used up: HTTP 503
│   └── MalformedOutput   the reply did not fit its type
├── StoreError            the database cannot be read or written: HTTP 503
├── EngineError           an index: HTTP 503
│   └── Conflict          two writers met; worth retrying
├── HandoffError          the live-advisor side: HTTP 503
│   ├── Undelivered       worth retrying; the message is kept
│   ├── ConversationLost  the desk no longer lets us into a conversation
│   └── IllegalTransition what a conversation does not allow as it stands: HTTP 409
└── LabError              a dataset, a run, a comparison
    └── Unreachable       a run's target is down; worth resuming

A refusal, a hand-over or an empty search is an outcome, not an error.
"""

from typing import ClassVar

from ombud.masking import mask_secrets


class OmbudError(Exception):
    """Base: one sentence that says what happened, one (`hint`) that says what to do.

    Both are shown to anybody, so addresses, buckets and paths of storage go into `detail`, which
    only whoever runs it reads: in commands, the server's log and `ombud doctor`. None of them
    repeats a password.
    """

    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", detail: str = "") -> None:
        super().__init__(mask_secrets(message))
        self.hint = mask_secrets(hint)
        self.detail = mask_secrets(detail)


class SetupError(OmbudError):
    exit_code = 2


class BadSetting(SetupError): ...


class UnknownName(SetupError):
    status = 422


class MissingExtra(SetupError): ...


class BadRequest(OmbudError):
    exit_code, status = 2, 422


class NotSignedIn(BadRequest):
    status = 401


class NotAllowed(BadRequest):
    status = 403


class NotFound(OmbudError):
    status = 404


class Busy(OmbudError):
    exit_code, status, retryable = 3, 409, True


class TooMuchWork(OmbudError):
    status, retryable = 429, True

    def __init__(self, message: str, *, hint: str = "", retry_after: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
        """Seconds until it may be tried again."""


class SourceError(OmbudError): ...


class ModelError(OmbudError):
    status = 502


class ModelUnavailable(ModelError):
    status, retryable = 503, True


class BudgetSpent(ModelError):
    status, retryable = 503, True


class MalformedOutput(ModelError): ...


class StoreError(OmbudError):
    status = 503


class EngineError(OmbudError):
    status = 503


class Conflict(EngineError):
    retryable = True


class HandoffError(OmbudError):
    status = 503


class Undelivered(HandoffError):
    retryable = True

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
        """Seconds that the desk asks to be left alone; None where it does not say."""


class ConversationLost(HandoffError): ...


class IllegalTransition(HandoffError):
    status = 409


class LabError(OmbudError): ...


class Unreachable(LabError):
    retryable = True
