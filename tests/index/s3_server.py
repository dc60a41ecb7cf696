"""An S3 server of this machine: moto's, for that service alone.

Its own command looks for the service of every request in its folders, and reads a date again for
every file that it lists.

Run: python tests/index/s3_server.py PORT
"""

import sys
from functools import cache

from moto.core import serialize
from moto.moto_server.werkzeug_app import MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

if __name__ == "__main__":
    vars(serialize)["parse_to_aware_datetime"] = cache(vars(serialize)["parse_to_aware_datetime"])
    application = create_backend_app("s3")
    run_simple(
        "127.0.0.1",
        int(sys.argv[1]),
        application,
        threaded=True,
        request_handler=MotoRequestHandler,
    )
