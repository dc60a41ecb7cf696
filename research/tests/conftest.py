"""Settings of the process that tests of research need, alone or beside those of the product."""

import os

os.environ.setdefault("OMBUD_DOCUMENTS__PROCESSES", "0")
