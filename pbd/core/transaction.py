"""Transactions: a refused call leaves a description exactly as it was.

Lists of a description only grow, and its arrays are replaced, never changed in place. So the lengths of its lists say
how it was, whatever its size. The few objects that change in place are noted with `_keep` before they do.
"""

import functools
import inspect

from pbd.core.messages import shown

CHANGING = ("add_", "clamp", "exclude_", "pin", "turn")  # how names of methods that change a description begin


class Description:
    """Base of descriptions. All methods that change one are transactions: see CHANGING.

    Class attribute: title: how messages name the class, such as "pbd.Particles".

    Attributes: built: what functions with the decorator `builder` added, such as a pbd.build.Cloth. It says how to draw
    the parts; no solver reads it.
    """

    title = ""
    _kept = None  # of the open transaction: [(object, its attributes)]; None without one

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if name.startswith(CHANGING) and inspect.isfunction(method):
                setattr(cls, name, in_transaction(method))

    def transaction(self):
        """A context manager: if its block raises anything, the description becomes what it was before the block."""
        return Transaction(self)

    def _keep(self, item):
        """Note the attributes of a part of this description that changes in place. Args: item: a body, a joint, ..."""
        if self._kept is not None:
            self._kept.append((item, dict(vars(item))))


class Transaction:
    """A block after which a description is changed as a whole, or not at all. Args: description."""

    def __init__(self, description):
        self.description, self.inner = description, description._kept is not None

    def __enter__(self):
        if not self.inner:  # otherwise the outer transaction restores everything
            self.marked, self.description._kept = mark(vars(self.description)), []

    def __exit__(self, kind, error, trace):
        if self.inner:
            return
        kept = self.description._kept
        if kind is not None:
            restore(self.marked)
            for item, attributes in reversed(kept):
                vars(item).update(attributes)
        self.description._kept = None


def in_transaction(method):
    """Make a method of a Description, or a function whose first argument is one, a transaction of it."""

    @functools.wraps(method)
    def transacted(description, *arguments, **options):
        if description._kept is not None:
            return method(description, *arguments, **options)
        with Transaction(description):
            return method(description, *arguments, **options)

    return transacted


def builder(kind):
    """Decorator of a function that adds to a description, its first argument, which notes what was built.

    Args: kind: the class of the description.
    """

    def decorate(function):
        name, transacted = next(iter(inspect.signature(function).parameters)), in_transaction(function)

        @functools.wraps(function)
        def build(*arguments, **options):
            description = arguments[0] if arguments else options.pop(name, None)
            if not isinstance(description, kind):
                raise TypeError(f"{name} is {shown(description)}: expected a {kind.title}")
            made = transacted(description, *arguments[1:], **options)
            description.built.append(made)
            return made

        return build

    return decorate


class Growing:
    """Base of parts of a description that have lists of their own."""


PARTS = (list, dict, set, Growing)


def mark(value):
    """Note the state of a part of a description, one of PARTS, for `restore`."""
    if type(value) is list:
        return value, len(value)
    if isinstance(value, dict):
        return value, (dict(value), [mark(each) for each in value.values() if isinstance(each, PARTS)])
    if isinstance(value, set):
        return value, set(value)
    return value, mark(vars(value))


def restore(marked):
    """Bring a part of a description back to the state that `mark` noted. Args: marked: as `mark` returned it."""
    value, before = marked
    if type(value) is list:
        del value[before:]
    elif isinstance(value, set):
        value.intersection_update(before)
    elif isinstance(value, dict):
        items, parts = before
        value.clear()
        value.update(items)
        for part in parts:
            restore(part)
    else:
        restore(before)
