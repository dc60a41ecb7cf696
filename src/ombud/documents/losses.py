"""What a document's loss report says in words."""

from collections.abc import Iterator

from ombud.types import Loss

_COUNTED = {
    "struck": ("struck passage", "struck passages"),
    "hidden": ("hidden part", "hidden parts"),
    "quoted": ("passage quoted from an older message", "passages quoted from older messages"),
    "repeated": ("running header or footer", "running headers and footers"),
    "pictures": ("picture without a description", "pictures without a description"),
    "undecodable": ("character of an unknown encoding", "characters of an unknown encoding"),
}


def describe_loss(loss: Loss) -> str:
    """Everything that was left out, in one line; empty where nothing was."""
    return "; ".join(_parts(loss))


def _parts(loss: Loss) -> Iterator[str]:
    if loss.pages:
        numbers = ", ".join(map(str, loss.pages))
        yield f"no text on page{'s' if len(loss.pages) > 1 else ''} {numbers}"
    for name, (one, several) in _COUNTED.items():
        count = getattr(loss, name)
        if count:
            yield f"{count:,} {one if count == 1 else several}"
    if loss.attachments:
        yield f"attachments: {', '.join(loss.attachments)}"
    yield from loss.notes
