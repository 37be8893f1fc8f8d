"""Ctrl-C at a moment when nothing is half written."""

import contextlib
import signal
import threading


@contextlib.contextmanager
def interrupts_deferred():
    """Let Ctrl-C wait until the block is done: half a frame, or half an ending, would spoil the file."""
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
