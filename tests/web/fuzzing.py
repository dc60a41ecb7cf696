"""Generated requests against a server where people sign in, by Schemathesis: no server error, and
no response that the description does not name. `make fuzz` runs it; it is no test of the suite,
for it installs some thirty packages and takes minutes.

    python tests/web/fuzzing.py PATH_OF_SCHEMATHESIS [EXAMPLES]"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["OMBUD_IDENTITY__KIND"] = "local"

from ombud.app import people
from ombud.types import Person
from web.running import make_workspace, running

CHECKS = ",".join(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "ignored_auth",
    ]
)


def main() -> int:
    program, examples = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "50"
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder))
        duties = ["employee", "advisor", "admin"]
        account = people.add_person(workspace, "robot", Person(country="GB"), duties)
        rights = ["ask", "desk", "lab", "admin", "policy"]
        _, secret = people.make_token(workspace, account, "fuzz", rights)
        with running(workspace) as url:
            done = subprocess.run(
                [
                    program,
                    "run",
                    f"{url}/openapi.json",
                    *("--header", f"Authorization: Bearer {secret}"),
                    *("--checks", CHECKS),
                    *("--max-examples", examples),
                    *("--request-timeout", "30"),
                    "--continue-on-failure",
                ],
                check=False,
            )
        workspace.close()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
