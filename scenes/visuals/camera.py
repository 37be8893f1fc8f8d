"""Cameras: a fixed one, and one that follows a body. Plain numpy, in metres, z up, right-handed."""

import math
from dataclasses import dataclass, replace

import numpy as np

DIRECTION = (-1.0, -1.6, 0.55)  # from the subject towards a camera that frames it


@dataclass
class Camera:
    """A pinhole camera.

    Args:
        position: (3,) of the pinhole [m].
        target: (3,) the point in the middle of the picture [m].
        field_of_view: vertical opening angle [degrees], above 0 and below 180.
        up: (3,) direction that points upwards in the picture, not along the line of sight.

    Raises:
        ValueError: if these do not define a camera.
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
            raise ValueError(f"Camera field_of_view is {self.field_of_view}: expected degrees above 0 and below 180")
        if np.allclose(self.position, self.target, rtol=0.0, atol=1e-12):
            raise ValueError(f"Camera position and target are both {self.position}: expected two points")
        if np.linalg.norm(np.cross(self.forward, self.up)) < 1e-6 * np.linalg.norm(self.up) + 1e-300:
            raise ValueError(f"Camera up is {self.up}: expected a direction across the line of sight {self.forward}")

    @classmethod
    def framing(cls, lower, upper, direction=DIRECTION, field_of_view=35.0, aspect=16 / 9, margin=1.08):
        """Make a camera that sees a whole axis-aligned box.

        Args: lower, upper: (3,) corners of the box [m]; others: see `framing_points`.

        Returns:
            A Camera.
        """
        lower, upper = _finite_vector(lower, "lower"), _finite_vector(upper, "upper")
        if np.any(lower > upper):
            raise ValueError(f"lower is {lower}: expected a corner below upper, {upper}")
        corners = np.stack(np.meshgrid(*zip(lower, upper)), axis=-1).reshape(8, 3)
        return cls.framing_points(corners, direction, field_of_view, aspect, margin)

    @classmethod
    def framing_points(cls, points, direction=DIRECTION, field_of_view=35.0, aspect=16 / 9, margin=1.08):
        """Make the nearest camera that sees all of some points.

        Args:
            points: (n, 3) [m], one at least.
            direction: (3,) from the points towards the camera, of any length.
            field_of_view: as in Camera [degrees].
            aspect: width of the picture divided by its height.
            margin: space around the points: their width or their height is the picture's divided by this.

        Returns:
            A Camera.
        """
        sight = Sight(direction, field_of_view, aspect, margin)
        return sight.camera(sight.reach(np.asarray(points, dtype=float)))

    def at(self, frame):
        """The camera at one instant: this one, because it does not move. Args: a Frame."""
        return self

    @property
    def forward(self):
        """Unit vector along the line of sight (3,)."""
        sight = self.target - self.position
        return sight / np.linalg.norm(sight)

    @property
    def axes(self):
        """Three unit vectors (3,): to the right, downwards and into the picture."""
        right = np.cross(self.forward, self.up)
        right /= np.linalg.norm(right)
        return right, np.cross(self.forward, right), self.forward

    def focal_length(self, height):
        """Distance from the pinhole to the picture plane [pixels]. Args: height of the picture [pixels]."""
        return height / 2 / math.tan(math.radians(self.field_of_view) / 2)

    def view(self, width, height):
        """Make the projection matrix.

        Args: width, height of the picture [pixels].

        Returns:
            (4, 4) matrix from (x, y, z, 1) [m] to w * (column, row, 1, 1 / w), where w is the depth [m].
        """
        right, down, forward = self.axes
        focal = self.focal_length(height)
        rotation = np.stack(
            [focal * right + width / 2 * forward, focal * down + height / 2 * forward, forward, np.zeros(3)]
        )
        view = np.column_stack([rotation, -rotation @ self.position])
        view[3, 3] = 1.0
        return view

    def project(self, points, width, height):
        """Find where points appear in a picture.

        Args: points (..., 3) [m]; width, height of the picture [pixels].

        Returns:
            Columns and rows (..., 2), counted from the upper left corner [pixels].
        """
        view = self.view(width, height)
        seen = np.asarray(points, dtype=float) @ view[:3, :3].T + view[:3, 3]
        return seen[..., :2] / seen[..., 2:]


class Sight:
    """A direction in which cameras look, for the nearest of them that sees some points.

    Args: see `Camera.framing_points`.

    Attributes: axes: (3, 3) to the right, downwards and into the picture.
    """

    def __init__(self, direction=DIRECTION, field_of_view=35.0, aspect=16 / 9, margin=1.08):
        direction = _finite_vector(direction, "direction")
        if not np.any(direction):
            raise ValueError("direction has length zero: expected a direction")
        direction = direction / np.linalg.norm(direction)
        self.up = (0.0, 0.0, 1.0) if np.hypot(direction[0], direction[1]) > 1e-3 else (0.0, 1.0, 0.0)
        self.field_of_view = field_of_view
        self.axes = np.stack(Camera(direction, np.zeros(3), field_of_view, self.up).axes)
        half_height = math.tan(math.radians(field_of_view) / 2) / margin
        self.halves = np.array([half_height * aspect, half_height])

    def reach(self, points):
        """Extent of points to the sides, to the front and to the back (6,) [m]. Args: points (n, 3) [m].

        A point at a and a depth d is within the half width w d of a pinhole at p and depth e if |a - p| <= w (d - e).
        So p - w e >= max(a - w d), -p - w e >= max(-a - w d), and likewise for the height, and e <= min d. For all
        points of two frames, these are the maxima of both.
        """
        across, depth = points @ self.axes[:2].T, points @ self.axes[2]
        spread = depth[:, None] * self.halves
        return np.array([*(across - spread).max(axis=0), *(-across - spread).max(axis=0), -depth.min(), depth.max()])

    def position(self, reach):
        """The pinhole that is nearest to points, along `axes` (..., 3) [m]. Args: reach (..., 6): of the points."""
        most, least, front = reach[..., 0:2], -reach[..., 2:4], -reach[..., 4]
        depth = np.minimum(((least - most) / (2 * self.halves)).min(axis=-1), front - 1e-3)
        return np.concatenate([(most + least) / 2, depth[..., None]], axis=-1)

    def room(self, position, reach):
        """How far inside the picture points are: left, right, above, below and in front (5,) [m]; below 0 if outside.

        Args: position: of the pinhole, along `axes` (3,) [m]; reach (6,): of the points.
        """
        spread = position[2] * self.halves
        return np.array([*(position[:2] - spread), *(-position[:2] - spread), -position[2]]) - reach[:5]

    def distance(self, reach):
        """From the pinhole to the middle of the points (...,) [m]. Args: reach (..., 6): of the points."""
        return (reach[..., 5] - reach[..., 4]) / 2 - self.position(reach)[..., 2]

    def camera(self, reach):
        """The nearest Camera that sees points. Args: reach (6,): of the points."""
        return self.camera_at(self.position(reach), self.distance(reach))

    def camera_at(self, position, distance):
        """A Camera in this direction. Args: position: along `axes` (3,) [m]; distance: to its target [m]."""
        position = position @ self.axes
        return Camera(position, position + distance * self.axes[2], self.field_of_view, self.up)


@dataclass
class FollowingCamera:
    """A camera that follows a body in the horizontal plane.

    Args: body: its index; camera: the Camera for a body above the origin.
    """

    body: int
    camera: Camera

    def at(self, frame):
        """The Camera at one instant. Args: a Frame."""
        shift = np.array([*frame.body_poses[self.body, :2], 0.0])
        position, target = np.add(self.camera.position, shift), np.add(self.camera.target, shift)
        return replace(self.camera, position=position, target=target)


def _finite_vector(value, name):
    vector = np.asarray(value, dtype=np.float64)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise ValueError(f"{name} is {value}: expected three finite numbers")
    return vector
