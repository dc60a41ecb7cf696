"""The app package that an administrator uploads to Teams: its manifest and icons."""

import io
import json
import zipfile
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from ombud.errors import SetupError
from ombud.settings import Settings

SCHEMA = "https://developer.microsoft.com/en-us/json-schemas/teams/v1.19/MicrosoftTeams.schema.json"
ACCENT = "#1F4E5F"


def teams_package(settings: Settings) -> bytes:
    """Make the zip file. Raises SetupError without the bot's id."""
    if not settings.teams.app_id:
        raise SetupError(
            "The app of Teams needs the id of a bot.", hint="Set teams.app_id and teams.tenant_id."
        )
    files = {
        "manifest.json": json.dumps(teams_manifest(settings), indent=2).encode(),
        "color.png": icon(192, background=ACCENT),
        "outline.png": icon(32, background=None),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(zipfile.ZipInfo(name), data)  # without a time: the same every day
    return content.getvalue()


def teams_manifest(settings: Settings) -> dict[str, Any]:
    name = settings.general.name or "your organisation"
    url = settings.server.public_url or "https://ask.example.com"
    app_id = settings.teams.app_id
    about = f"Answers questions about the policies of {name}"
    command = {"title": "new", "description": "Begin another subject"}
    bot = {
        "botId": app_id,
        "scopes": ["personal", "team", "groupChat"],
        "supportsFiles": False,
        "isNotificationOnly": False,
        "commandLists": [{"scopes": ["personal"], "commands": [command]}],
    }
    return {
        "$schema": SCHEMA,
        "manifestVersion": "1.19",
        "version": release(version("ombud")),
        "id": app_id,
        "developer": {
            "name": name[:32],
            "websiteUrl": url,
            "privacyUrl": url,
            "termsOfUseUrl": url,
        },
        "name": {"short": "ombud", "full": "ombud"},
        "description": {
            "short": about[:80],
            "full": f"{about}, from its own documents and with the passages that prove it.",
        },
        "icons": {"color": "color.png", "outline": "outline.png"},
        "accentColor": ACCENT,
        "bots": [bot],
        "permissions": ["identity", "messageTeamMembers"],
        "validDomains": [urlsplit(url).hostname or "ask.example.com"],
    }


def release(full: str) -> str:
    """Return the three numbers that Teams takes for a version."""
    numbers = [part for part in full.split(".") if part.isdecimal()]
    return ".".join([*numbers, "0", "0", "0"][:3])


def icon(size: int, background: str | None) -> bytes:
    """Draw a speech bubble with lines of text; without a background it is a white outline."""
    from PIL import Image, ImageDraw

    scale = size / 32
    image = Image.new("RGBA", (size, size), background or (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)

    def at(numbers: list[float]) -> list[float]:
        return [number * scale for number in numbers]

    thick = round(2 * scale)
    draw.rounded_rectangle(at([5, 6, 27, 22]), radius=4 * scale, outline="white", width=thick)
    draw.polygon(at([9, 21, 9, 28, 16, 21]), fill="white")
    for height, end in ((11, 22), (16, 18)):
        draw.line(at([10, height, end, height]), fill="white", width=thick)
    content = io.BytesIO()
    image.save(content, "PNG")
    return content.getvalue()
