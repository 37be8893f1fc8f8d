"""Jolt, as a reference from outside: the npm package jolt-physics, which is WebAssembly, in a process of node.

It holds what other_engines.py holds: bodies of one sphere, capsule or box at their middle, planes as the ground, balls
and hinges. Numbers have 32 bits. The build is that for one thread, which has no vector instructions (SIMD).
jolt_solver.mjs is the program for node.

Source: Jolt Physics, https://github.com/jrouwe/JoltPhysics.
"""

import json
import math
import os
import shutil
import subprocess
import weakref
from pathlib import Path

import numpy as np

from benchmarks.other_engines import bodies_with_shapes, ground_shapes
from pbd.core.shapes import Capsule, Sphere
from rigid.joints import Ball, Hinge
from rigid.state import State

INSTALL = "run `npm install jolt-physics` in a folder, and set VERLETLAB_JOLT to its path"
MOST_BODIES = 1700  # Jolt drops contacts above 10,240 pairs that touch, in silence: six for each body


def missing():
    """Why Jolt is not there and how to install it, in a line; None if it is there."""
    if shutil.which("node") is None:
        return f"node is not installed: install Node.js, {INSTALL}"
    if not (package() / "package.json").is_file():
        return f"{package()} does not exist: {INSTALL}"
    return None


def package():
    """Folder of the package: in node_modules of the folder VERLETLAB_JOLT, or of the current folder."""
    return Path(os.environ.get("VERLETLAB_JOLT") or ".").absolute() / "node_modules" / "jolt-physics"


class JoltSolver:
    """A model in Jolt, with the methods of a solver that benchmarks use.

    A collision step has 10 velocity and 2 position iterations, Jolt's defaults. So are the Baumgarte factor of 0.2, the
    permitted overlap and the contact margin of 20 mm, and a convex radius of boxes of 50 mm, which here is at most a
    tenth of their shortest half edge. Nothing sleeps, and nothing is damped. There are no gyroscopic torques, which is
    Jolt's default, too.

    Args: model: a rigid.Model; dt [s]; collision_steps: parts of a step, each with contacts of its own.

    Raises: ValueError for a model that it does not hold; RuntimeError if node ends.
    """

    def __init__(self, model, dt, collision_steps=1):
        self.dt, self.time, self._seconds = dt, 0.0, 0.0
        described = {**description(model), "dt": dt, "collision_steps": collision_steps}
        model_as_json = json.dumps(described, default=lambda array: array.tolist())
        program = Path(__file__).with_suffix(".mjs")
        self._node = subprocess.Popen(
            ["node", program, package()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        weakref.finalize(self, self._node.communicate)  # closes the input, at which node ends
        self._send(model_as_json)

    def step(self, count=1):
        """Make steps of dt. Args: count. Raises: RuntimeError if node ends."""
        self._seconds += self._ask(f"step {count}")
        self.time += count * self.dt

    def cpu_time(self):
        """Processor time that all steps took so far, in node [s]."""
        return self._seconds

    def state(self):
        """Poses of the bodies: a rigid.State without velocities. Raises: RuntimeError if node ends."""
        position, rotation = np.split(np.array(self._ask("state"), float), [3], axis=1)
        return State(position, rotation, np.zeros_like(position), np.zeros_like(position), self.time)

    def digest(self):
        """Sixteen hexadecimal digits that change with any bit of the poses."""
        return self.state().digest()

    def _ask(self, command):
        self._send(command)
        answer = self._node.stdout.readline()
        return json.loads(answer) if answer else self._fail()

    def _send(self, line):
        try:
            self._node.stdin.write(line + "\n")
            self._node.stdin.flush()
        except BrokenPipeError:
            self._fail()

    def _fail(self):
        raise RuntimeError(f"Jolt has ended: {self._node.stderr.read().strip()}")


def description(model):
    """A model as numbers for jolt_solver.mjs. Args: model: a rigid.Model. Raises: ValueError, see JoltSolver."""
    if len(model.bodies) > MOST_BODIES:
        raise ValueError(f"a model with {len(model.bodies)} bodies: expected at most {MOST_BODIES}")
    planes = [(piece, piece.shape.normal) for piece in ground_shapes(model)]
    ground = [{"normal": n, "constant": -np.dot(n, piece.position), **surface(piece)} for piece, n in planes]
    same = ("position", "rotation", "velocity", "angular_velocity", "mass", "inertia")
    bodies = [
        {**{name: getattr(body, name) for name in same}, **shape_of(piece.shape), **surface(piece)}
        for body, piece in bodies_with_shapes(model)
    ]
    joints, exclusions = [joint_of(joint) for joint in model.joints], sorted(model.exclusions)
    return {
        "gravity": model.gravity, "ground": ground, "bodies": bodies, "joints": joints, "exclusions": exclusions,
    }  # fmt: skip


def surface(piece):
    """Friction and restitution of a shape. Jolt takes sqrt(μa μb), and the larger restitution, as we do."""
    return {"friction": piece.friction, "restitution": piece.restitution}


def shape_of(shape):
    """Kind and size of a shape, see jolt_solver.mjs. Args: shape: a Sphere, Capsule or Box."""
    if isinstance(shape, Sphere):
        return {"kind": "sphere", "size": [shape.radius]}
    if isinstance(shape, Capsule):
        return {"kind": "capsule", "size": [shape.length / 2, shape.radius]}
    return {"kind": "box", "size": np.asarray(shape.size) / 2}


def joint_of(joint):
    """A joint for jolt_solver.mjs. Args: joint: a Ball or Hinge. Raises: ValueError for what Jolt does not hold."""
    if not isinstance(joint, (Ball, Hinge)):
        raise ValueError(f"joint {joint.name!r} is a {type(joint).__name__}: expected balls and hinges")
    if joint.friction or joint.armature or joint.spring or joint.motor or joint.soft or joint.breaks:
        raise ValueError(f"joint {joint.name!r} has friction, an armature, breaks or is soft or driven: expected none")
    found = {"kind": joint.kind, "parent": joint.parent, "child": joint.child}
    found["anchors"] = joint.parent_anchor, joint.child_anchor
    found["axes"], found["normals"] = zip(joint.parent_axes[:2], joint.child_axes[:2])
    limits = joint.twist_limits if isinstance(joint, Ball) else joint.limits
    low, high = (limit if np.isfinite(limit) else math.copysign(math.pi, limit) for limit in limits)
    if not -math.pi <= low <= 0 <= high <= math.pi:
        raise ValueError(f"joint {joint.name!r} has limits {limits}: expected zero between them, within ±π")
    return {**found, "limits": (low, high), "swing": min(getattr(joint, "swing_limit", 0.0), math.pi)}
