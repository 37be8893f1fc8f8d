"""A bicycle balances without hands: the benchmark bicycle of Meijaard and others.

A lateral push tips it over. The handlebar turns into the fall, and the bicycle swings back. That works between 4.3 and
6.0 m/s with a tilt of 18°. Slower it weaves, faster it falls slowly to a side (benchmarks/bicycle_theory.py).

Source: [2] of docs/solvers/sources.md.
"""

import rigid
from pbd.core.validate import finite_number, not_negative, positive
from scenes.catalogue.components.bicycle import add_bicycle
from scenes.catalogue.components.bicycle_picture import bicycle_surfaces
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, RED, Camera, FollowingCamera
from scenes.visuals.tracks import TrackVisual


@register(slow=True, picture=1.8, picture_parameters={"push_duration": 0.06})
def bicycle(
    speed: float = 4.6, tilt: float = 18.0, push: float = 500.0, push_time: float = 1.0, push_duration: float = 0.02
):
    """A bicycle without hands is pushed aside, and balances itself."""
    positive("speed", speed), finite_number("push", push)
    not_negative("push_time", push_time), positive("push_duration", push_duration)
    model = rigid.Model()
    bodies = add_bicycle(model, speed, tilt)

    def control(solver, time):
        # The mean force over the step, so that the impulse is push push_duration with any step.
        part = min(time + solver.dt, push_time + push_duration) - max(time, push_time)
        force = -push * max(part, 0.0) / solver.dt  # to the right
        solver.set_forces("frame", force=(0.0, force, 0.0))

    return Scene(
        model=model,
        duration=8.0,
        settings=SETTINGS,
        visuals=[
            bicycle_surfaces(bodies, tilt),
            # The rear wheel is the last: its track hides that of the front wheel.
            TrackVisual(model, "rear_rim", radius=0.014, colour=BLUE),
            TrackVisual(model, "front_rim", colour=RED),
        ],
        camera=FollowingCamera(bodies["frame"], Camera((-4.2, -1.9, 2.0), (0.5, 0.0, 0.72))),
        control=control,
    )


# With these steps the motion after a push is within some percent of the exact one. The wheels spin fast, so the
# explicit gyroscopic torque and velocity products have the smaller errors.
SETTINGS = {
    "articulated": {
        "dt": 1 / 240, "substeps": 8, "tolerance": 1e-9, "iterations": 500, "gyroscopic": "explicit",
        "velocity_products": "explicit",
    },
    "impulse": {"dt": 1 / 240, "substeps": 16, "tolerance": 1e-9, "iterations": 2000, "gyroscopic": "explicit"},
    "penalty": {
        "dt": 1 / 240, "substeps": 16, "stiffness": 3.2e5, "damping": 200.0, "angular_stiffness": 6.4e5,
        "angular_damping": 200.0, "gyroscopic": "explicit",
    },
    "verlet": {"dt": 1 / 240, "substeps": 8, "iterations": 10, "solve": "direct"},
}  # fmt: skip
