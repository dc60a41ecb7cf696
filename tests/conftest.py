"""What all tests need of their process."""

import signal


def pytest_configure() -> None:
    """A shell starts what stands before `&` with Ctrl-C ignored, and so would everything that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
