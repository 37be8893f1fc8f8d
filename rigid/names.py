"""How bodies and joints are called: names made up, names taken, and who is meant by an index or a name."""

import numpy as np

from pbd.core.validate import nearest

GROUND = -1  # the world, where a body is asked for: it has no mass and does not move


def fresh_name(kind, name, known):
    """A name that none of the known ones has; where None, one made of the kind and the number of those before."""
    taken = {one.name for one in known}
    if name is None:
        number = len(taken)
        while f"{kind} {number}" in taken:
            number += 1
        return f"{kind} {number}"
    if not isinstance(name, str) or not name:
        raise TypeError(f"name is {name!r}: expected some letters, or None")
    if name in taken or name == "ground":
        raise ValueError(f"name {name!r} is taken: expected another, such as {fresh_name(name, None, known)!r}")
    return name


def look_up(what, given, known, kind, ground=False):
    """Index of the one with an index or name, among the known ones; a wrong name is told the nearest right one."""
    if isinstance(given, str):
        if given == "ground" and ground:
            return GROUND
        names = [one.name for one in known]
        if given not in names:
            hint = nearest(given, names)
            raise ValueError(f"{what} is {given!r}: no {kind} of this model is called that{hint}")
        return names.index(given)
    if isinstance(getattr(given, "name", None), str):
        own = [index for index, one in enumerate(known) if one is given]
        expected = f"not of this model: expected the index or name of a {kind} of this one"
        if own:
            expected = f"of this model: expected its index, {own[0]}, or its name"
        raise TypeError(f"{what} is the {type(given).__name__} {given.name!r}, {expected}")
    if isinstance(given, (bool, np.bool_)) or not isinstance(given, (int, np.integer)):
        raise TypeError(f"{what} is {given!r}: expected the index or name of a {kind} of this model")
    if not 0 <= given < len(known):
        plural = {"body": "bodies"}.get(kind, f"{kind}s")
        there = f"there are {len(known)} {plural}, 0 to {len(known) - 1}" if known else f"there are no {plural} yet"
        raise IndexError(f"{what} is {given}: {there}{', or rigid.GROUND' if ground else ''}")
    return int(given)
