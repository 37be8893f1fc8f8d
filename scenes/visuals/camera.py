"""Cameras: a fixed one, and one that follows a body."""

import math
from dataclasses import dataclass, replace

import numpy as np


@dataclass
class Camera:
    """A pinhole camera.

    position, target: (3,) where it stands and what is in the middle of its picture [m].
    field_of_view: vertical opening angle [degrees], above 0 and below 180.
    up: (3,) the direction that points upwards in the picture; not along the line of sight.
    Raises ValueError where these do not make a camera.
    """

    position: np.ndarray
    target: np.ndarray
    field_of_view: float = 35.0
    up: np.ndarray = (0.0, 0.0, 1.0)

    def __post_init__(self):
        self.position = _finite_vector(self.position, "Camera position")
        self.target = _finite_vector(self.target, "Camera target")
        self.up = _finite_vector(self.up, "Camera up")
        if not 0.0 < self.field_of_view < 180.0:
            raise ValueError(f"Camera field_of_view is {self.field_of_view}, expected degrees in (0, 180)")
        if np.allclose(self.position, self.target, rtol=0.0, atol=1e-12):
            raise ValueError(f"Camera position and target are the same point, {self.position}")
        if np.linalg.norm(np.cross(self.forward, self.up)) < 1e-6 * np.linalg.norm(self.up) + 1e-300:
            raise ValueError(f"Camera up {self.up} lies along the line of sight {self.forward}")

    @classmethod
    def framing(cls, lower, upper, direction=(-1.0, -1.6, 0.55), field_of_view=35.0, aspect=16 / 9, margin=1.08):
        """A camera that sees the whole axis-aligned box.

        lower, upper: (3,) corners of the box [m].
        direction: (3,) from the box's middle towards the camera; any length.
        aspect: width over height of the picture.  margin: 1 lets the box touch the picture's border.
        """
        lower, upper = _finite_vector(lower, "lower"), _finite_vector(upper, "upper")
        if np.any(lower > upper):
            raise ValueError(f"the box's lower corner {lower} lies above its upper corner {upper}")
        direction = _finite_vector(direction, "direction")
        if not np.any(direction):
            raise ValueError("direction has length zero")
        direction = direction / np.linalg.norm(direction)
        up = (0.0, 0.0, 1.0) if np.hypot(direction[0], direction[1]) > 1e-3 else (0.0, 1.0, 0.0)
        middle = (lower + upper) / 2
        camera = cls(middle + direction, middle, field_of_view, up)

        corners = np.stack(np.meshgrid(*zip(lower, upper)), axis=-1).reshape(8, 3) - middle
        right, down, forward = camera.axes
        half_height = math.tan(math.radians(field_of_view) / 2) / margin
        half_width = half_height * aspect
        distance = max(np.max(np.abs(corners @ right) / half_width - corners @ forward),
                       np.max(np.abs(corners @ down) / half_height - corners @ forward), 1e-3)
        return cls(middle + distance * direction, middle, field_of_view, up)

    @property
    def forward(self):
        """(3,) unit vector along the line of sight."""
        sight = self.target - self.position
        return sight / np.linalg.norm(sight)

    @property
    def axes(self):
        """Three (3,) unit vectors: to the right, downwards and into the picture."""
        right = np.cross(self.forward, self.up)
        right /= np.linalg.norm(right)
        return right, np.cross(self.forward, right), self.forward

    def focal_length(self, height):
        """Distance of a picture of this height [pixels] from the pinhole, in pixels."""
        return height / 2 / math.tan(math.radians(self.field_of_view) / 2)

    def view(self, width, height):
        """(4, 4) matrix from (x, y, z, 1) [m] to w * (column, row, 1, 1 / w): pixels, and w the depth [m]."""
        right, down, forward = self.axes
        focal = self.focal_length(height)
        rotation = np.stack([focal * right + width / 2 * forward,
                             focal * down + height / 2 * forward, forward, np.zeros(3)])
        view = np.column_stack([rotation, -rotation @ self.position])
        view[3, 3] = 1.0
        return view

    def project(self, points, width, height):
        """Where points (..., 3) [m] appear: columns and rows (..., 2) in pixels, from the upper left corner."""
        view = self.view(width, height)
        seen = np.asarray(points, dtype=float) @ view[:3, :3].T + view[:3, 3]
        return seen[..., :2] / seen[..., 2:]


@dataclass
class FollowingCamera:
    """A camera that keeps beside a body, wherever that goes along the floor.

    Arguments: body: its index; camera: a Camera, as it is to stand while the body is over the origin.
    """

    body: int
    camera: object

    def at(self, frame):
        """The Camera at one instant. Arguments: a Frame."""
        shift = np.array([*frame.body_poses[self.body, :2], 0.0])
        position, target = np.add(self.camera.position, shift), np.add(self.camera.target, shift)
        return replace(self.camera, position=position, target=target)


def _finite_vector(value, name):
    vector = np.asarray(value, dtype=np.float64)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise ValueError(f"{name} is {value}, expected three finite numbers")
    return vector
