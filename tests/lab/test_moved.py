"""Former verbs of `ombud lab` name what replaces them."""

import re

import pytest
from typer.main import get_command

from ombud.cli.verbs import REMOVED_COMMANDS, app

REPLACEMENTS = [
    words
    for sentence in REMOVED_COMMANDS.values()
    for words in re.findall("`ombud (.*?)`", sentence)
]


@pytest.mark.parametrize("words", REPLACEMENTS)
def test_each_replacement_is_a_command_with_these_options(words: str) -> None:
    command = get_command(app)
    for word in words.split():
        if word.islower() and not word.startswith("--"):
            command = command.commands[word]  # type: ignore[attr-defined]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words.split() if word.startswith("--")} <= known
