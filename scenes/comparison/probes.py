"""Probes: quantities by which runs are compared.

- "position", "rotation": of the body that deviates most
- "angle", "shift": of the joint that deviates most
- "particles": of the particle that deviates most
- "rod 1 position", "hinge 1 angle" and the like: of one body or joint
"""

from functools import partial
from typing import NamedTuple

import numpy as np

import rigid
from pbd.core.messages import nearest
from rigid.constraints.joints.positions import JointPositions
from rigid.rotation import conjugate, logarithm, multiply

UNITS = {"position": "m", "rotation": "rad", "angle": "rad", "shift": "m", "particles": "m"}


class Probe(NamedTuple):
    """A compared quantity: `kind`, a word of UNITS; `which`: indices of bodies, joints or particles."""

    kind: str
    which: list


def probes_of(scene):
    """All probes of a Scene: {name: Probe}, first those of all bodies and all joints."""
    found, single = {}, {}
    if scene.model is not None:
        bodies = range(len(scene.model.bodies))
        found |= {kind: Probe(kind, list(bodies)) for kind in ("position", "rotation") if bodies}
        single |= {
            f"{body.name} {kind}": Probe(kind, [k])
            for k, body in enumerate(scene.model.bodies)
            for kind in ("position", "rotation")
        }
        for kind in ("angle", "shift"):
            joints = {k: joint.name for k, joint in enumerate(scene.model.joints) if places_of(joint, kind)}
            if joints:
                found[kind] = Probe(kind, list(joints))
            single |= {f"{name} {kind}": Probe(kind, [k]) for k, name in joints.items()}
    if scene.particles is not None:
        found["particles"] = Probe("particles", list(range(len(scene.particles))))
    return found | single


def chosen(scene, names=None):
    """Find probes by name: {name: Probe}.

    Args: scene: a Scene; names: one or several names of probes, bodies or joints; None for the probes of all bodies,
        all joints and all particles.

    Raises: ValueError for an unknown name.
    """
    every = probes_of(scene)
    if names is None:
        return {name: probe for name, probe in every.items() if name in UNITS}
    found = {}
    for name in [names] if isinstance(names, str) else names:
        own = {each: every[each] for each in every if name in (each, each.rpartition(" ")[0])}
        if not own:
            known = [*every, *dict.fromkeys(each.rpartition(" ")[0] for each in every if each not in UNITS)]
            general = ", ".join(repr(each) for each in every if each in UNITS)
            hint = f"{nearest(name, known)} (expected {general}, or the name of a body or joint)"
            raise ValueError(f"no probe called {name!r} in scene {scene.name}{hint}")
        found |= own
    return found


def unit_of(name):
    """The unit of a probe, "m" or "rad". Args: name: of the probe."""
    return UNITS[name.rpartition(" ")[2]]


def deviations(scene, recording, reference, probes):
    """Deviation of a recording from a reference, frame by frame.

    Positions and particles: distance [m]. Rotations: angle between them [rad]. Joints: difference of their positions
    [rad or m], with full turns counted; for ball joints, the angle between the relative rotations [rad].

    Args: scene: of both recordings; recording, reference: Recordings; probes: {name: Probe}.

    Returns: {name: (frames,)}; NaN after the end of the reference.
    """
    frames = min(len(recording), len(reference))
    kinds = {probe.kind for probe in probes.values()}
    with np.errstate(over="ignore"):  # a run that diverges has large numbers
        apart = {kind: READERS[kind](scene, recording, reference, frames) for kind in kinds}
    found = {}
    for name, probe in probes.items():
        found[name] = np.full(len(recording), np.nan)
        found[name][:frames] = apart[probe.kind][:, probe.which].max(axis=1)
    return found


def positions_apart(scene, recording, reference, frames):
    """Distances (frames, bodies) [m]."""
    return np.linalg.norm(recording.body_poses[:frames, :, :3] - reference.body_poses[:frames, :, :3], axis=-1)


def rotations_apart(scene, recording, reference, frames):
    """Angles (frames, bodies) [rad]."""
    return angle_between(recording.body_poses[:frames, :, 3:], reference.body_poses[:frames, :, 3:])


def places_of(joint, kind):
    """Places of a joint's angles or shifts in its position. Args: kind: "angle" or "shift"."""
    read = [coordinate for coordinate in joint.type.coordinates if coordinate.is_read]
    return [k for k, coordinate in enumerate(read) if coordinate.unit == UNITS[kind]]


def joints_apart(kind, scene, recording, reference, frames):
    """Differences of angles or shifts (frames, joints) [rad or m]; zero for joints without. Args: see places_of."""
    model, found = scene.model, np.zeros((frames, len(scene.model.joints)))
    states = [states_of(each, frames) for each in (recording, reference)]
    positions = [JointPositions(model).positions(state) for state in states]
    turns = [relative_turns(model, state) for state in states]
    for k, joint in enumerate(model.joints):
        places = places_of(joint, kind)
        if joint.type.special == "ball" and places:
            found[:, k] = angle_between(turns[0][:, k], turns[1][:, k])
        elif places:
            one, other = (each[joint.name].reshape(frames, -1)[:, places] for each in positions)
            if kind == "angle":
                one, other = np.unwrap(one, axis=0), np.unwrap(other, axis=0)
            found[:, k] = np.abs(one - other).max(axis=1)
    return found


def particles_apart(scene, recording, reference, frames):
    """Distances (frames, particles) [m]."""
    both = zip(recording.positions[:frames], reference.positions[:frames])
    return np.array([np.linalg.norm(one - other, axis=-1) for one, other in both])


READERS = {
    "position": positions_apart,
    "rotation": rotations_apart,
    "angle": partial(joints_apart, "angle"),
    "shift": partial(joints_apart, "shift"),
    "particles": particles_apart,
}


def states_of(recording, frames):
    """Make one rigid.State of the first frames of a recording, with frames in place of worlds."""
    poses, velocities = recording.body_poses[:frames], recording.body_velocities[:frames]
    return rigid.State(poses[..., :3], poses[..., 3:], velocities[..., :3], velocities[..., 3:])


def relative_turns(model, state):
    """Rotation of each joint's child relative to its parent (..., joints, 4)."""
    ground = np.broadcast_to((1.0, 0.0, 0.0, 0.0), (*state.rotation.shape[:-2], 1, 4))
    rotation = np.concatenate([state.rotation, ground], axis=-2)  # whose index is -1
    parents, children = ([getattr(joint, side) for joint in model.joints] for side in ("parent", "child"))
    return multiply(conjugate(rotation[..., parents, :]), rotation[..., children, :])


def angle_between(a, b):
    """Angle between rotations (...) [rad]. Args: a, b: unit quaternions (..., 4)."""
    return np.linalg.norm(logarithm(multiply(conjugate(a), b)), axis=-1)
