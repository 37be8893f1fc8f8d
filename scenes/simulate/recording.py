"""Recordings: the frames of a run, in memory or, if they are large, on disk."""

import importlib
import json
import tempfile
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pbd.core.extras import load_extra
from pbd.core.files import naming, replacing
from pbd.core.snapshot import open_archive
from scenes.simulate.interrupts import interrupts_deferred

# Arrays of frames up to this size stay in memory [bytes]; larger ones go to a temporary file.
MEMORY_LIMIT = 64 * 2**20


# Variables of `Recording.to_xarray`: dimensions beside time, and attributes.
VARIABLES = {
    "particle_position": (("particle", "axis"), {"units": "m"}),
    "particle_velocity": (("particle", "axis"), {"units": "m/s", "long_name": "velocity over the last substep"}),
    "collider_position": (("collider", "axis"), {"units": "m"}),
    "collider_rotation": (("collider", "component"), {"units": "1", "long_name": "unit quaternion"}),
    "body_position": (("body", "axis"), {"units": "m", "long_name": "position of the centre of mass"}),
    "body_rotation": (("body", "component"), {"units": "1", "long_name": "unit quaternion"}),
    "body_velocity": (("body", "axis"), {"units": "m/s", "long_name": "velocity of the centre of mass"}),
    "body_angular_velocity": (("body", "axis"), {"units": "rad/s", "long_name": "in the world frame"}),
    "energy": (("kind",), {"units": "J"}),
}


class Frame(NamedTuple):
    """A scene at one instant: time [s], arrays as in a Recording, without their first axis, and torn sticks (n, 2)."""

    time: float
    positions: np.ndarray
    velocities: np.ndarray
    poses: np.ndarray
    body_poses: np.ndarray
    body_velocities: np.ndarray
    torn: np.ndarray = np.zeros((0, 2), int)


class Frames:
    """Arrays of one shape, one for each frame. They move to a temporary file if they become large.

    Args: limit: the largest size in memory [bytes]; None for MEMORY_LIMIT.
    """

    def __init__(self, limit=None):
        self.limit = MEMORY_LIMIT if limit is None else limit
        self.waiting, self.size, self.file, self.count = [], 0, None, 0  # count: of all frames, waiting or in the file
        self.shape, self.dtype = (), np.float64

    def append(self, array):
        """Add a frame. Args: array: of the shape and type of the ones before. Raises: OSError if the disk is full."""
        array = np.array(array)
        self.shape, self.dtype = array.shape, array.dtype
        self.waiting.append(array)
        self.size += array.nbytes
        self.count += 1
        if self.file is not None or self.size > self.limit:
            with naming(tempfile.gettempdir()):
                self._move_to_file()

    def _move_to_file(self):
        """Write the waiting frames. After an error, the frames that are not in the file wait on."""
        if self.file is None:
            self.file = tempfile.TemporaryFile(prefix="verletlab-", buffering=0)  # noqa: SIM115 - maps keep it open
        while self.waiting:
            left = self.waiting[0].tobytes()
            self.file.seek((self.count - len(self.waiting)) * len(left))
            while left:
                left = left[self.file.write(left) :]
            self.waiting.pop(0)

    def array(self):
        """All frames (frames, ...); a memory map if they are on disk."""
        waiting = np.array(self.waiting).reshape(len(self.waiting), *self.shape)
        count = self.count - len(self.waiting)  # in the file
        if not count:
            return waiting
        stored = np.memmap(self.file, self.dtype, "r", shape=(count, *self.shape))
        return np.concatenate([stored, waiting]) if self.waiting else stored


def drawing():
    """The module that draws for notebooks. It builds on recordings, so it is imported when it is used."""
    return importlib.import_module("scenes.render.notebook")


@dataclass(eq=False)  # == of arrays has no single answer
class Recording:
    """A run, frame by frame.

    Args:
        about: scene, parameters, solver, settings, device, digest of the final state and so on, as plain values. If
            something tore or broke, "events" is a list of dicts with the fields of pbd.Event.
        times: (frames,) [s].
        positions: of particles (frames, particles, 3) [m]; a memory map of a file if it is large.
        velocities: of particles, over the last substep (frames, particles, 3) [m/s].
        poses: of colliders (frames, colliders, 7): positions [m] and rotations (w, x, y, z).
        body_poses: of the centres of mass of bodies (frames, bodies, 7), like `poses`.
        body_velocities: of the centres of mass [m/s], and angular velocities [rad/s] (frames, bodies, 6).
        energy: kinetic, potential and total (frames, 3) [J].
        scene: the Scene that was run; None for a recording from a file.
    """

    about: dict
    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    poses: np.ndarray
    body_poses: np.ndarray
    body_velocities: np.ndarray
    energy: np.ndarray
    scene: object = None

    ARRAYS = ("times", "positions", "velocities", "poses", "body_poses", "body_velocities", "energy")

    def __repr__(self):
        about, last = self.about, self.times[-1] if len(self) else 0.0
        counts = f"{self.positions.shape[1]} particles, {self.body_poses.shape[1]} bodies"
        return (
            f"Recording of {about.get('scene', '')!r}: {len(self)} frames, {last:g} s, {counts}\n"
            f"    solver {about.get('solver', '')!r}, settings {about.get('settings', {})}"
        )

    def __len__(self):
        return len(self.times)

    def torn_at(self, time):
        """Particles of the sticks that were torn at a time (n, 2). Args: time [s]."""
        return torn_pairs([each for each in self.about.get("events", ()) if each["time"] <= time + 1e-9])

    def _repr_html_(self):
        return drawing().table_of_recording(self)

    def show(self, kind="replay", *, scene=None, width=640, fps=30.0):
        """Show the run in a notebook.

        Args:
            kind: "replay", which can be turned and stopped (needs the extra `view`); or "video".
            scene: the Scene; None for the one that was run, or the one of the catalogue that a file names.
            width: in the notebook [pixels]; the height is 9/16 of it.
            fps: frames per second [1/s]; of a replay rounded so that frames are recorded ones.

        Returns: an object that notebooks show; its attribute `page` is HTML.

        Raises: ModuleNotFoundError that says how to install viser; ValueError for a recording of an unknown scene; the
            errors of `scenes.film`.
        """
        return drawing().show_recording(self, kind, scene, width, fps)

    def save(self, path):
        """Write to an .npz file, array by array; Ctrl-C waits until it is complete. Args: path."""
        with interrupts_deferred(), replacing(path) as partial, partial.open("wb") as file:
            np.savez(file, about=json.dumps(self.about), **{name: getattr(self, name) for name in self.ARRAYS})

    def to_xarray(self):
        """Make an xarray.Dataset with named dimensions, coordinates and units (needs the extra `xarray`).

        Poses and velocities are split, so that each variable has one unit. The arrays are not copied.

        Returns: a Dataset. Its attributes are those of `about`; dicts and lists become JSON, because files of
        xarray have none.

        Raises: ModuleNotFoundError that says how to install xarray.
        """
        xarray = load_extra("xarray", "xarray")
        split = {
            "poses": ("collider_position", "collider_rotation"), "body_poses": ("body_position", "body_rotation"),
            "body_velocities": ("body_velocity", "body_angular_velocity"),
        }  # fmt: skip
        arrays = {"particle_position": self.positions, "particle_velocity": self.velocities, "energy": self.energy}
        for name, (first, second) in split.items():
            arrays[first], arrays[second] = getattr(self, name)[..., :3], getattr(self, name)[..., 3:]
        variables = {name: (("time", *of), arrays[name], dict(more)) for name, (of, more) in VARIABLES.items()}
        count = {name: np.arange(arrays[f"{name}_position"].shape[1]) for name in ("particle", "collider", "body")}
        coordinates = {
            "time": ("time", self.times, {"units": "s"}), **count, "axis": ["x", "y", "z"],
            "component": ["w", "x", "y", "z"], "kind": ["kinetic", "potential", "total"],
        }  # fmt: skip
        attributes = {
            name: json.dumps(value) if isinstance(value, (dict, list)) else value for name, value in self.about.items()
        }
        return xarray.Dataset(variables, coordinates, attributes)

    @classmethod
    def load(cls, path):
        """Read a file of `save`. Args: path. Raises: OSError; ValueError if the file holds something else."""
        with open_archive(path, "recording") as file:
            old = set(cls.ARRAYS) - set(file.files) == {"body_poses", "body_velocities"}
            if not old:
                recording = cls(json.loads(str(file["about"])), *(file[name] for name in cls.ARRAYS))
                recording.check()
                return recording
        raise ValueError(f"{path} is of an older version, without bodies: expected a file of `verletlab run --out`")

    def check(self):
        """Check that the arrays have shapes and types that fit, and `about` what a replay needs. Raises: ValueError."""
        about = self.about if isinstance(self.about, dict) else {}
        parameters = about.get("parameters")
        texts = parameters.values() if isinstance(parameters, dict) else [None]
        if not all(isinstance(text, str) for text in (about.get("scene"), about.get("solver"), *texts)):
            raise ValueError("about has no scene, solver and parameters: expected texts")
        for name in self.ARRAYS:
            if getattr(self, name).dtype.kind != "f":
                raise ValueError(f"{name} has type {getattr(self, name).dtype}: expected real numbers")
        frames = len(self.times)
        arrays = self.positions, self.poses, self.body_poses
        particles, colliders, bodies = ((*np.shape(each), 0, 0)[1] for each in arrays)
        shapes = {
            "times": (), "positions": (particles, 3), "velocities": (particles, 3), "poses": (colliders, 7),
            "body_poses": (bodies, 7), "body_velocities": (bodies, 6), "energy": (3,),
        }  # fmt: skip
        for name in self.ARRAYS:
            found, expected = np.shape(getattr(self, name)), (frames, *shapes[name])
            if found != expected:
                raise ValueError(f"{name} has shape {found}: expected {expected}")
        if not frames or not np.isfinite(self.times).all() or not (np.diff(self.times) > 0).all():
            raise ValueError("times: expected at least one, finite and in ascending order")


def torn_pairs(events):
    """Particles of the sticks that tore (n, 2). Args: events: dicts with the fields of pbd.Event."""
    found = [each["members"] for each in events if each["kind"] == "tear"]
    return np.array(found, int).reshape(-1, 2)
