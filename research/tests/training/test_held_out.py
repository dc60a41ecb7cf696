"""Readings that are kept without the texts that were read."""

from pathlib import Path

import numpy as np
import pytest

from ombud.errors import BadRequest
from ombud.models import ReaderPassage
from research.training.reader.held_out import UNREAD, HeldOutReader, HeldOutReading, write_held_out

NOTES = ReaderPassage("Sickness", ["A note is needed.", "Call before ten."])
PAY = ReaderPassage("Pay", ["Pay comes on the 25th."])


@pytest.fixture
def reader(tmp_path: Path) -> HeldOutReader:
    path = tmp_path / "readings.npz"
    of_notes = HeldOutReading("sick note?", *NOTES, answerable=1.5, logits=[2.25, float("nan")])
    of_pay = HeldOutReading("sick note?", *PAY, answerable=-4.0, logits=[-0.5])
    write_held_out(path, [of_notes, of_pay])
    return HeldOutReader(path)


def test_what_was_read_is_given_again_in_any_order(reader: HeldOutReader) -> None:
    pay, notes = reader.read("sick note?", [PAY, NOTES])
    assert pay.answerable == -4.0
    np.testing.assert_array_equal(pay.pieces, [-0.5])
    assert notes.answerable == 1.5
    np.testing.assert_array_equal(notes.pieces, [2.25, UNREAD])


def test_another_question_or_text_was_not_read(reader: HeldOutReader) -> None:
    with pytest.raises(BadRequest, match="Nobody read “Pay” for “when is pay”"):
        reader.read("when is pay", [PAY])
    with pytest.raises(BadRequest, match="Nobody read “Pay”"):
        reader.read("sick note?", [PAY._replace(pieces=["Pay comes on the 26th."])])


def test_no_text_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "readings.npz"
    write_held_out(path, [HeldOutReading("secret question", *PAY, answerable=0.0, logits=[0.0])])
    content = path.read_bytes()
    with np.load(path) as parts:
        content += b"".join(parts[name].tobytes() for name in parts.files)
    assert b"secret" not in content
    assert b"25th" not in content
