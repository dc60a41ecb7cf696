"""What an answer needs of the workspace."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ombud.answer.contacts import Contacts
from ombud.answer.personas.personas import Persona
from ombud.answer.proof.citing import Stored
from ombud.answer.triage.checking import Triage
from ombud.models import Chat, Reader
from ombud.retrieve import SearchParts
from ombud.settings import Settings


def no_reader() -> Reader | None:
    """Where none is wanted."""
    return None


class AnswerParts(NamedTuple):
    settings: Settings
    knowledge: SearchParts
    chat: Chat | None
    """Writes answers; None: they are quotes."""
    verifier: Chat | None
    """Compares what claims mean with their passages; None: their words alone are compared."""
    stored: Stored
    contacts: Contacts
    personas: Mapping[str, Persona]
    triage: Triage
    reader: Callable[[], Reader | None] = no_reader
    """Opens what reads passages beside the question; None: sentences are told by their vectors."""
    may_read: bool = True
    """Whether the reader has time for a question that is unsure, beside those of others."""
    countries: Sequence[str] = ()
    """ISO codes of those for which there are documents."""
