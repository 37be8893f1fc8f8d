"""Transactions: a refused call leaves a description exactly as it was.

Lists of a description only grow, and its arrays are replaced, never changed in place. So the lengths of its lists say
how it was, whatever its size. The few objects that change in place are noted with `_keep` before they do.
"""

import functools
import inspect
from contextlib import contextmanager

from pbd.core.messages import shown

CHANGING = ("add_", "exclude_", "pin")  # how names of methods that change a description begin


class Description:
    """Base of descriptions. All methods that change one are transactions: see CHANGING.

    Class attribute: title: how messages name the class, such as "pbd.Particles".
    """

    title = ""
    _kept = None  # of the open transaction: [(object, its attributes)]; None without one

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if name.startswith(CHANGING) and inspect.isfunction(method):
                setattr(cls, name, in_transaction(method))

    @contextmanager
    def transaction(self):
        """A context manager: if its block raises anything, the description becomes what it was before the block."""
        if self._kept is not None:  # within another transaction, which restores everything
            yield
            return
        marked, self._kept = mark(vars(self)), []
        try:
            yield
        except BaseException:
            kept = self._kept
            restore(marked)
            for item, attributes in reversed(kept):
                vars(item).update(attributes)
            raise
        finally:
            self._kept = None

    def _keep(self, item):
        """Note the attributes of a part of this description that changes in place. Args: item: a body, a joint, ..."""
        if self._kept is not None:
            self._kept.append((item, dict(vars(item))))


def in_transaction(method):
    """Make a method of a Description, or a function whose first argument is one, a transaction of it."""

    @functools.wraps(method)
    def transacted(description, *arguments, **options):
        if description._kept is not None:
            return method(description, *arguments, **options)
        with description.transaction():
            return method(description, *arguments, **options)

    return transacted


def builder(kind):
    """Decorator of a function that adds to a description, its first argument. Args: kind: the class it has to be."""

    def decorate(function):
        name, transacted = next(iter(inspect.signature(function).parameters)), in_transaction(function)

        @functools.wraps(function)
        def build(*arguments, **options):
            description = arguments[0] if arguments else options.pop(name, None)
            if not isinstance(description, kind):
                raise TypeError(f"{name} is {shown(description)}: expected a {kind.title}")
            return transacted(description, *arguments[1:], **options)

        return build

    return decorate


class Growing:
    """Base of parts of a description that have lists of their own."""


def mark(value):
    """What `restore` needs in order to make a part of a description what it is now."""
    if isinstance(value, list):
        return value, len(value)
    if isinstance(value, set):
        return value, set(value)
    if isinstance(value, Growing):
        return value, mark(vars(value))
    if isinstance(value, dict):
        return value, {key: mark(each) for key, each in value.items()}
    return value, None


def restore(marked):
    """Make a part of a description what it was. Args: marked: as `mark` returned it. Returns: the part."""
    value, before = marked
    if isinstance(value, list):
        del value[before:]
    elif isinstance(value, set):
        value.intersection_update(before)
    elif isinstance(value, Growing):
        restore(before)
    elif isinstance(value, dict):
        for key in value.keys() - before.keys():
            del value[key]
        for key, each in before.items():
            value[key] = restore(each)
    return value
