"""`python -m ombud` is `ombud`."""

from ombud.cli import main

if __name__ == "__main__":
    main()
