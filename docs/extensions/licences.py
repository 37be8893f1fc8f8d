"""The directive `licences`: a table of the packages that verletlab needs, with the licences in their metadata."""

import re
from importlib import metadata

from repository_links import ROOT
from sphinx.util.docutils import SphinxDirective

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

UNKNOWN = "not installed where this page was made"
LONGEST = 60  # a longer text is the licence itself, not its name


def name_of(requirement):
    """Name of a package in a requirement, such as "numpy>=1.26"."""
    return re.match(r"[\w.-]+", requirement).group()


def licence_of(package):
    """Name of the licence of an installed package."""
    try:
        found = metadata.metadata(package)
    except metadata.PackageNotFoundError:
        return UNKNOWN
    classifiers = [line for line in found.get_all("Classifier", []) if line.startswith("License :: OSI Approved :: ")]
    named = found.get("License-Expression") or found.get("License") or ""
    if named and named != "UNKNOWN" and len(named) <= LONGEST and "\n" not in named:
        return named
    return ", ".join(line.split(" :: ")[-1] for line in classifiers) or "see its metadata"


def packages():
    """Packages of verletlab and of its extras: {name: extras}, where no extra means that it is always installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    always = {name_of(line) for line in project["dependencies"]}
    found = {name: [] for name in map(name_of, project["dependencies"])}
    for extra, lines in project["optional-dependencies"].items():
        for name in map(name_of, lines):
            if name not in always and name != project["name"]:
                found.setdefault(name, []).append(extra)
    return found


class Licences(SphinxDirective):
    """The table."""

    def run(self):
        """Nodes of the table."""
        rows = [
            f"| {name} | {licence_of(name)} | {', '.join(f'extra `{extra}`' for extra in extras) or 'always'} |"
            for name, extras in packages().items()
        ]
        return self.parse_text_to_nodes("\n".join(["| package | licence | installed |", "| --- | --- | --- |", *rows]))


def setup(app):
    """Register the directive."""
    app.add_directive("licences", Licences)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
