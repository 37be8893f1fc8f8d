"""Words that scenes take for the units and the axes of mesh files, as `pbd.build.load_mesh` knows them."""

from typing import Literal

from pbd.build.mesh import UNITS, UP

Unit = Literal[tuple(UNITS)]
UpAxis = Literal[("", *UP)]  # "": by the format of the file
