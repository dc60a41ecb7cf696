"""A real MediaWiki with SQLite under PHP's own server, where Debian's packages are installed.

apt-get install --no-install-recommends mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

CODE = Path("/usr/share/mediawiki")
ROOT = Path("/var/lib/mediawiki")
PHP_EXTENSIONS = {"pdo_sqlite", "mbstring", "xml", "intl"}
TRIES = 200


def missing() -> str:
    """Why there is none here; empty when there is."""
    php = shutil.which("php")
    if php is None:
        return "php is not installed"
    if not (CODE / "maintenance" / "install.php").is_file() or not ROOT.is_dir():
        return "MediaWiki is not installed (Debian: mediawiki)"
    found = (
        subprocess.run([php, "-m"], capture_output=True, text=True, check=True)
        .stdout.lower()
        .split()
    )
    lacking = PHP_EXTENSIONS - set(found)
    return f"PHP lacks {', '.join(sorted(lacking))}" if lacking else ""


class Wiki:
    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.url = folder, f"http://127.0.0.1:{port}"
        self.environment = os.environ | {"MW_CONFIG_FILE": str(folder / "LocalSettings.php")}

    @property
    def api(self) -> str:
        return f"{self.url}/api.php"

    def edit(self, title: str, text: str) -> None:
        self._maintain("edit.php", "--user", "Admin", title, text=text)

    def delete(self, title: str) -> None:
        (self.folder / "titles").write_text(f"{title}\n")
        self._maintain("deleteBatch.php", str(self.folder / "titles"))

    def settle(self) -> None:
        """Run what the wiki put off, such as filling categories."""
        self._maintain("runJobs.php")

    def install(self) -> None:
        (self.folder / "data").mkdir()
        self._maintain(
            "install.php",
            *("--dbtype", "sqlite", "--dbpath", str(self.folder / "data"), "--dbname", "wiki"),
            *(
                "--confpath",
                str(self.folder),
                "--server",
                self.url,
                "--scriptpath",
                "",
                "--skins",
                "Vector",
            ),
            *("--pass", "only-for-these-tests-4711", "Handbook", "Admin"),
            configured=False,
        )
        # Extensions come with the package; Cite makes the references that the source leaves out.
        with (self.folder / "LocalSettings.php").open("a") as settings:
            settings.write('$wgCacheDirectory = "$wgSQLiteDataDir";\nwfLoadExtension( "Cite" );\n')

    def _maintain(
        self, script: str, *arguments: str, text: str = "", configured: bool = True
    ) -> None:
        run = ["php", str(CODE / "maintenance" / script), *arguments]
        environment = self.environment if configured else dict(os.environ)
        done = subprocess.run(
            run, input=text, capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == 0, f"{script}: {done.stdout[-500:]}{done.stderr[-500:]}"


@contextmanager
def running(folder: Path) -> Iterator[Wiki]:
    """An empty wiki, installed in `folder` and served until the end; skips the test where that
    cannot be."""
    if why := missing():
        pytest.skip(why)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    wiki = Wiki(folder, port)
    wiki.install()
    serve = ["php", "-S", f"127.0.0.1:{port}", "-t", str(ROOT)]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(serve, env=wiki.environment, stdout=log, stderr=log)
        try:
            _answering(wiki, server)
            yield wiki
        finally:
            server.terminate()
            server.wait(10)


def _answering(wiki: Wiki, server: "subprocess.Popen[bytes]") -> None:
    # Each try waits for the connection inside the transport; PHP listens within a moment.
    transport = httpx.HTTPTransport(retries=8)
    with httpx.Client(transport=transport, trust_env=False, timeout=30) as client:
        for _ in range(TRIES):
            assert server.poll() is None, (wiki.folder / "log").read_text()
            try:
                if client.get(wiki.api).status_code == 200:
                    return
            except httpx.TransportError:
                continue
    pytest.fail("The wiki does not answer.")
