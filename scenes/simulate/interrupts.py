"""Signals that stop a command: they act as Ctrl-C does, which can wait until a file or a frame is complete."""

import contextlib
import signal
import threading

# Ctrl-C, the request to end that `kill` sends, and the end of the terminal, which Windows does not have.
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def stop_signals_interrupt():
    """Context in which all of SIGNALS raise KeyboardInterrupt. A signal that is ignored, as with `nohup`, stays so."""
    with replaced_handlers(signal.default_int_handler, lambda handler: handler is signal.SIG_DFL):
        yield


@contextlib.contextmanager
def interrupts_deferred():
    """Context in which Ctrl-C waits until the end of the block, so that no frame is left half written.

    So do the other SIGNALS where they have a handler, as in `stop_signals_interrupt`.
    """
    waiting = []
    try:
        with replaced_handlers(lambda number, _: waiting.append(number), callable):
            yield
    finally:
        if waiting:
            signal.raise_signal(waiting[0])


@contextlib.contextmanager
def replaced_handlers(handler, chosen):
    """Context with another handler of signals. Only the main thread has handlers; on others nothing changes.

    Args: handler; chosen: function that says whether to replace a handler.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: found for number, found in before.items() if chosen(found)}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, found in before.items():
            signal.signal(number, found)
