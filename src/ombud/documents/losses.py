"""Describe the losses of a document in words."""

from collections.abc import Iterator

from ombud.messages import message
from ombud.types import Loss

_COUNTED = ("struck", "hidden", "quoted", "repeated", "pictures", "undecodable")
"""Fields of `Loss` that count something."""


def describe_loss(loss: Loss) -> str:
    """Describe everything that was left out, in one line; empty if nothing was."""
    return "; ".join(loss_parts(loss))


def loss_parts(loss: Loss) -> Iterator[str]:
    if loss.pages:
        numbers = ", ".join(map(str, loss.pages))
        yield message("documents.loss_pages", count=len(loss.pages), pages=numbers)
    for name in _COUNTED:
        if count := getattr(loss, name):
            yield message(f"documents.loss_{name}", count=count)
    if loss.attachments:
        yield message("documents.loss_attachments", names=", ".join(loss.attachments))
    yield from loss.notes
