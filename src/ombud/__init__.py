"""ombud: answers from your own policies, each sentence proven."""

import os

__version__ = "0.1.0"

# Products of small matrices, as ours are, cost ten times as much when OpenBLAS hands them to
# threads that first must wake up (measured: 7.9 ms beside .7); it reads this when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
