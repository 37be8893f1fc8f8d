"""Names of bodies, joints, springs and gears: default names, and lookup by index or name."""


from pbd.core.messages import nearest, shown
from pbd.core.validate import is_whole, one_line

GROUND = -1  # stands for the world where a body is expected; it has no mass and does not move


def fresh_name(kind, name, known):
    """A name that no known item has.

    Args: kind: such as "hinge"; name: the wanted name, or None for the kind and a number; known: items with names.

    Raises: TypeError for a name that is not a string; ValueError for a name that is taken.
    """
    taken = {each.name for each in known}
    if name is None:
        number = len(taken)
        while f"{kind} {number}" in taken:
            number += 1
        return f"{kind} {number}"
    if one_line("name", name) in taken or name == "ground":
        raise ValueError(f"name {shown(name)} is taken: expected another, such as {fresh_name(name, None, known)!r}")
    return name


def checked_index(what, given, known, kind, ground=False):
    """Index of an item by its index or name.

    Args:
        what: name of the argument, for messages.
        given: index or name.
        known: the model's items.
        kind: what they are, such as "joint".
        ground: whether "ground" may be given, too.

    Raises: ValueError for an unknown name; IndexError for an index out of range; TypeError for anything else.
    """
    if isinstance(given, str):
        if given == "ground" and ground:
            return GROUND
        names = [each.name for each in known]
        if given not in names:
            expected, hint = f"expected the name of a {kind} of this model", nearest(given, names)
            raise ValueError(f"{what} is {shown(given)}: {expected}{hint}")
        return names.index(given)
    if isinstance(getattr(given, "name", None), str):
        own = [index for index, each in enumerate(known) if each is given]
        expected = f"not of this model: expected the index or name of a {kind} of this model"
        if own:
            expected = f"of this model: expected its index, {own[0]}, or its name"
        raise TypeError(f"{what} is the {type(given).__name__} {shown(given.name)}, {expected}")
    if not is_whole(given):
        raise TypeError(f"{what} is {shown(given)}: expected the index or name of a {kind} of this model")
    if not 0 <= given < len(known):
        plural = {"body": "bodies"}.get(kind, f"{kind}s")
        if not known:
            raise IndexError(f"{what} is {shown(given)}: expected the index of a {kind}, but there are no {plural} yet")
        expected = f"expected 0 to {len(known) - 1}{', or rigid.GROUND' if ground else ''}"
        raise IndexError(f"{what} is {shown(given)}: {expected}; there are {len(known)} {plural}")
    return int(given)
