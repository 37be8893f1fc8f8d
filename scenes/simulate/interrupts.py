"""Ctrl-C that waits until a file or a frame is complete."""

import contextlib
import signal
import threading


@contextlib.contextmanager
def interrupts_deferred():
    """Context in which Ctrl-C waits until the end of the block, so that no file is left half written."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    interrupted = []
    handler = signal.signal(signal.SIGINT, lambda *_: interrupted.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if interrupted:
            signal.raise_signal(signal.SIGINT)
