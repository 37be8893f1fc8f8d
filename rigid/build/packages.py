"""Files of ROS packages: where addresses such as package://robot/meshes/hand.stl are.

A package is a directory. It is given by name, or found as ROS finds it: in the directories of ROS_PACKAGE_PATH, at any
depth, where it contains a package.xml; then in share/ of the directories of AMENT_PREFIX_PATH. A file within a package
finds that package without either, and so it finds directories beside itself and beside those above it.
"""

import os
from pathlib import Path
from urllib.parse import unquote

from pbd.core.messages import clipped, listed

SCHEMES = ("package://", "model://")
DEEPEST = 6  # levels of directories in which packages are sought


def find_file(address, directory, packages):
    """Find a file. Args: address: a path, or with package://, model:// or file://; directory: for relative paths;
    packages: {name: directory}.

    Returns: a Path. Raises: FileNotFoundError if there is no such package or file; ValueError for a cycle of packages.
    """
    for scheme in SCHEMES:
        if address.startswith(scheme):
            name, _, rest = address.removeprefix(scheme).lstrip("/").partition("/")
            file = find_package(name, directory, packages) / rest
            break
    else:
        file = Path(directory) / unquote(address.removeprefix("file://"))
    if not file.is_file():
        raise FileNotFoundError(clipped(address, 80))
    return file


def find_package(name, directory, packages, seen=()):
    """Find the directory of a package. Args, Raises: see `find_file`; seen: packages that led here."""
    if name in seen:
        chain = " -> ".join([*seen, name])
        raise ValueError(f"packages refer to one another in a cycle, {chain}: expected directories")
    given = str(packages.get(name, ""))
    for scheme in SCHEMES:
        if given.startswith(scheme):  # a directory in another package
            other, _, rest = given.removeprefix(scheme).partition("/")
            return find_package(other, directory, packages, (*seen, name)) / rest
    if given:
        return Path(given)
    found = next(places_of(name, Path(directory).resolve()), None) if name else None
    if found is None:
        known = listed(sorted(packages)) or "none"
        where = f"expected it in packages= ({known}), ROS_PACKAGE_PATH or AMENT_PREFIX_PATH"
        raise FileNotFoundError(f"package {clipped(name, 40)!r}: {where}")
    return found


def places_of(name, directory):
    """Directories in which a package is, the first one counts. Args: name; directory: of the file."""
    for entry in environment("ROS_PACKAGE_PATH"):
        yield from packages_below(entry, name)
    for entry in environment("AMENT_PREFIX_PATH"):
        if (entry / "share" / name).is_dir():
            yield entry / "share" / name
    for above in (directory, *directory.parents):
        if above.name == name:
            yield above
    for above in (directory, *directory.parents):  # beside the file, or beside its package
        if (above / name).is_dir():
            yield above / name


def environment(variable):
    """Directories of an environment variable."""
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def packages_below(top, name):
    """Packages of a name in a directory, at most DEEPEST levels below. Links that lead back are not followed."""
    waiting, seen = [(top, 0)], set()
    while waiting:
        place, depth = waiting.pop(0)
        real = os.path.realpath(place)
        if real in seen or not place.is_dir():
            continue
        seen.add(real)
        if place.name == name and ((place / "package.xml").is_file() or depth == 1):
            yield place
        elif depth < DEEPEST and not (place / "package.xml").is_file():
            try:
                waiting += [(below, depth + 1) for below in sorted(place.iterdir()) if below.is_dir()]
            except OSError:  # a directory that may not be read has no packages for us
                continue
