"""Teaching the small reader: MiniLM learns to say of a passage whether it answers a question, and
with which sentences. Only this package needs torch: `make reader`."""

from ombud.training.reader.examples import (
    ReadingExample,
    read_examples,
    squad_examples,
    without_answers,
)

__all__ = ["ReadingExample", "read_examples", "squad_examples", "without_answers"]
