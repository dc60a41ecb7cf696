"""A small handbook, a workspace made from it, and the real server in front of it."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from copies import lay_store
from ombud.app import Workspace, configured_sources, record_folder
from ombud.ingest import sync_sources
from ombud.store import RecordedSource
from ombud.web.server import prepare

LEAVE_GB = (
    "Full-time employees in Great Britain have 26 days of paid annual leave each calendar year."
)
LEAVE_DE = "Full-time employees in Germany have 30 days of paid annual leave each calendar year."
SMILE = "Remote work 🏡 is welcome everywhere. You may work from home on up to 2 days a week 🏡 when your manager agrees."
HOSTILE = '<img src=x onerror="window.hurt=1"><script>window.hurt=2</script>'

HANDBOOK = {
    "gb/leave.md": f"---\ntitle: Annual leave in Great Britain\ncountry: GB\n---\n# Annual leave\n\n{LEAVE_GB}\n\n"
    "Up to 5 days may be carried over until 31 March. Leave is booked in Compass.\n",
    "de/leave.md": f"---\ntitle: Annual leave in Germany\ncountry: DE\n---\n# Annual leave\n\n{LEAVE_DE}\n\n"
    "Up to 5 days may be carried over until 31 March. Leave is booked in Compass.\n",
    "global/remote.md": f"---\ntitle: Remote work\n---\n# Remote work\n\n{SMILE}\n\n## Equipment\n\n"
    "- a laptop\n- a screen, on request\n",
    "global/travel.md": "---\ntitle: Travel and expenses\nowner: travel@example.org\neffective_from: 2024-01-01\n---\n"
    "# Travel and expenses\n\n## Hotels\n\nHotel costs on business trips are reimbursed up to the cap of the city.\n\n"
    "| City | Cap for a hotel night |\n|---|---|\n| Paris | EUR 220 |\n| Lyon | EUR 130 |\n\n"
    "## Receipts\n\nReceipts are uploaded in Tally within 30 days of the end of the trip.\n",
    "global/pay.md": "---\ntitle: Pay bands for managers\naudience: {roles: [manager]}\n---\n# Pay bands\n\n"
    "The confidential pay band of grade G5 begins at 48,000 pounds a year and ends at 61,000 pounds.\n",
    "global/hostile.md": f"---\ntitle: 'Visitors {HOSTILE}'\n---\n# Visitors\n\n"
    "Visitors of the laboratory wear a yellow badge &lt;img src=x onerror=window.hurt=3&gt; "
    "&lt;script&gt;window.hurt=4&lt;/script&gt; at all times.\n",
}
CONTACTS = '[[contact]]\ntopic = "general"\nname = "People team"\nmail = "people@example.org"\n'


def make_workspace(
    home: Path, embedder: str = "none", handbook: Mapping[str, str] = HANDBOOK
) -> Workspace:
    """A workspace whose handbook is in the index."""
    for name, text in handbook.items():
        file = home / "handbook" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    settings = f'[general]\nname = "Acme Works"\n[models]\nembedder = "{embedder}"\n[plan]\nabstain = 0.05\n'
    # Tests ask faster than people.
    settings += "[server]\nrequests_per_minute = 0\nperson_cpu_seconds = 0\n"
    (home / "ombud.toml").write_text(settings, encoding="utf-8")
    (home / "contacts.toml").write_text(CONTACTS, encoding="utf-8")
    lay_store(home)
    workspace = Workspace(home)
    record_folder(
        workspace.settings, workspace.store, RecordedSource(name="", path=str(home / "handbook"))
    )
    (report,) = sync_sources(
        workspace.ingest, configured_sources(workspace.settings, home, workspace.store)
    )
    assert not report.failed
    return workspace


@contextmanager
def running(workspace: Workspace, port: int = 0) -> Iterator[str]:
    """The server on a free port, in a thread; its address once it answers."""
    ready, addresses = threading.Event(), list[str]()

    def on_ready(url: str) -> None:
        addresses.append(url)
        ready.set()

    server, listening = prepare(workspace, "127.0.0.1", port, on_ready)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        assert ready.wait(30)
        yield addresses[0]
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
