"""For whom an answer is written: the personas that ship, and those of a workspace over them."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ombud.errors import BadSetting

SHIPPED = Path(__file__).parent
DEFAULT_PERSONA = "employee"
"""Who is written for where nothing is said."""
LARGEST = 100_000


class Persona(BaseModel):
    """The content of one `personas/NAME.toml`, all of which is part of the prompt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(
        pattern="^[a-z0-9][a-z0-9_-]{0,39}$",
        description="As the file is called.",
    )
    label: str = Field(
        "",
        max_length=60,
        exclude=True,
        description="As pages call it; empty = its name as words. No model is told it.",
    )
    audience: str = Field(
        min_length=1, max_length=300, description="Who asks, such as `a manager`."
    )
    instructions: str = Field(
        "", max_length=4000, description="What to tell them of a rule, and how."
    )
    length: int = Field(
        150,
        ge=20,
        le=2000,
        description="Words of an answer, about.",
    )
    density: str = Field(
        "",
        max_length=1000,
        description="How much goes into a sentence.",
    )
    style: str = Field(
        "",
        max_length=1000,
        description="The tone.",
    )
    vocabulary: str = Field(
        "",
        max_length=1000,
        description="Which words.",
    )
    model: str = Field(
        "",
        description="Chat model asked first for this persona; empty = that of the role `compose`.",
    )


def read_personas(folder: Path | None = None) -> Mapping[str, Persona]:
    """Load personas by name: those that ship, and over them the `*.toml` of a workspace's folder,
    which may be missing.

    Raises BadSetting for a file that is no persona.
    """
    if not folder or not folder.is_dir():
        return MappingProxyType(_shipped())
    return MappingProxyType({**_shipped(), **_folder(folder)})


@cache
def _shipped() -> dict[str, Persona]:
    return _folder(SHIPPED)


def _folder(folder: Path) -> dict[str, Persona]:
    personas = list(map(_read, sorted(folder.glob("*.toml"))))
    personas.sort(key=lambda persona: (persona.name != DEFAULT_PERSONA, persona.name))
    return {persona.name: persona for persona in personas}


def _read(path: Path) -> Persona:
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > LARGEST:
            raise BadSetting(
                f"{path} is too long for a persona.", hint=f"At most {LARGEST} characters."
            )
        values = tomllib.loads(text)
        for key, value in values.items():
            if isinstance(value, str):
                values[key] = " ".join(value.split())
        persona = Persona.model_validate(values)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as wrong:
        raise BadSetting(
            f"{path} cannot be read: {wrong}.", hint="It is a TOML file with one persona."
        ) from wrong
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadSetting(
            f"{path}: {where}: {first['msg'].lower()}.",
            hint=f"Keys: {', '.join(Persona.model_fields)}.",
        ) from wrong
    if persona.name != path.stem:
        raise BadSetting(
            f"{path}: it calls itself `{persona.name}`.",
            hint=f"Rename the file to {persona.name}.toml, or the persona.",
        )
    return persona
