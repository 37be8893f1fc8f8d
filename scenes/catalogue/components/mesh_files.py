"""Meshes from files of the user: words for their parameters, repair, and a size that suits the scene."""

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from pbd import build
from pbd.build.mesh import UNITS, UP, open_edges, sheet
from pbd.core.messages import clipped
from pbd.core.validate import one_of, positive

Unit = Literal[tuple(UNITS)]
UpAxis = Literal[("", *UP)]  # "": by the format of the file
Fit = Literal["auto", "yes", "no"]  # "auto": a mesh is fitted if it is far too large or small, and has no scale


class Reading(NamedTuple):
    """How a scene takes meshes from files: parameters with the same names. Args: see docs/guides/meshes.md."""

    units: str
    up: str
    scale: float | None
    fit: str
    repair: bool


class OwnMesh:
    """A mesh from a file.

    Args:
        what: the parameter that names the file, for messages.
        path: of the file.
        reading: a Reading.
        closed: whether it must be closed; otherwise it is a cloth.

    Attributes: mesh: a pbd.build.Mesh [m]; notes: what was done to it.

    Raises: the errors of pbd.build.load_mesh; ValueError for a mesh that needs a repair.
    """

    def __init__(self, what, path, reading, closed=True):
        one_of("fit", reading.fit, ("auto", "yes", "no"))
        self.name, self.reading, self.notes = f"{what} {clipped(Path(path).name, 40)}", reading, []
        self.mesh = build.load_mesh(path, units=reading.units, up=reading.up or None)
        self.mesh.vertices *= 1.0 if reading.scale is None else positive("scale", reading.scale)
        if closed:
            self.close()
        else:
            self.simplify()

    def close(self):
        """Close the mesh, which must be closed without `repair`."""
        edges = len(open_edges(self.mesh.triangles))
        if edges and not self.reading.repair:
            raise ValueError(
                f"{self.name} has {edges} open edges (of one triangle, or three): expected a closed surface; "
                "repair=yes closes it"
            )
        before = len(self.mesh.triangles)
        self.mesh = build.closed_surface(self.mesh, self.reading.repair)
        if edges:
            after = len(self.mesh.triangles)
            self.notes.append(f"{self.name} had {edges} open edges and is closed: {before} triangles became {after}")

    def simplify(self):
        """Leave out triangles with which no cloth can be made; there must be none without `repair`."""
        simple = sheet(self.mesh)
        before, after = len(self.mesh.triangles), len(simple.triangles)
        wrong = before - after
        if wrong and not self.reading.repair:
            raise ValueError(
                f"{self.name} has triangles without area, or edges of three or more ({wrong} too many): expected a "
                "sheet; repair=yes leaves them out"
            )
        if wrong:
            self.notes.append(f"{self.name} is repaired: {before} triangles became {after}")
            self.mesh = simple

    @property
    def extent(self):
        """Lengths along x, y and z (3,) [m]."""
        return np.ptp(self.mesh.vertices, axis=0)

    def fit(self, longest, least, most, beside):
        """Scale the mesh if it is far too large or too small.

        Args: longest: side after that [m]; least, most: between which its longest side suits [m]; beside: what it is
        far from in size, for the note.

        Returns: the factor on its size.
        """
        before, side = self.extent, self.extent.max()
        fit, given = self.reading.fit, self.reading.scale is not None
        far = not least <= side <= most
        if fit == "no" or (fit == "auto" and (given or not far)):
            if far:
                self.notes.append(f"{self.name} is {lengths(before)}, and {beside}: fit=yes makes them alike")
            return 1.0
        factor = longest / side * (self.reading.scale if given else 1.0)
        self.mesh.vertices *= factor
        self.notes.append(
            f"{self.name} is {lengths(before)}, and {beside}: fitted to {lengths(self.extent)}; fit=no keeps its size"
        )
        return factor


    def stand_at(self, height):
        """Move the mesh above the origin, so that its lowest point is at a height [m]."""
        low, high = self.mesh.vertices.min(axis=0), self.mesh.vertices.max(axis=0)
        self.mesh.vertices -= [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2] - height]


def lengths(extent):
    """Sides of a box as text. Args: extent: (3,) or (2,) [m]."""
    return " x ".join(f"{float(f'{side:.3g}'):g}" for side in extent) + " m"
