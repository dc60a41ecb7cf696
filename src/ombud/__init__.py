"""ombud: answers from your own policies, each sentence proven."""

__version__ = "0.1.0"
