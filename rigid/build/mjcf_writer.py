"""MJCF files, MuJoCo's XML format, of a Model: the inverse of load_mjcf. It works without MuJoCo.

    Model                         MJCF
    body                          body with the same frame, mass and inertia; free if nothing joins it
    ball                          one joint
    hinge, slider and others      a hinge for each angle, a slide for each shift: that with a
                                  motor, or the first, has the joint's name
    fixed                         body without joints, part of its parent
    joint that closes a loop      equality constraints: connect for a ball, two for a hinge, weld for a fixed joint
    distance, spring              spatial tendon between two sites, with a range, or a stiffness
    gear                          equality constraint of two joints
    gravity_scale                 gravcomp
    group, mask                   contype, conaffinity: one bit for each pair of values in the model
    motor                         actuator, which is a force, or a position or velocity if it is compliant
    velocities, motors' targets   keyframe "start"

Source: MuJoCo documentation, XML reference.
"""

import math
from xml.etree import ElementTree

import numpy as np

from pbd.core.files import replacing
from pbd.core.messages import shown
from pbd.core.validate import file_path
from rigid.build.mjcf_refused import UNLIMITED, refuse_what_mjcf_has_not
from rigid.build.mjcf_shapes import geom_of
from rigid.joints import NO_LIMITS
from rigid.joints.joint_type import Angle, Shift
from rigid.model import Model
from rigid.names import GROUND
from rigid.rotation import conjugate, multiply

ELEMENTS = {Angle: "hinge", Shift: "slide"}  # of coordinates


def save_mjcf(model, path):
    """Write a model as an MJCF file, which MuJoCo and load_mjcf read.

    Args:
        model: a rigid.Model.
        path: of the file.

    Returns: the path.

    Raises: ValueError for what MJCF has no counterpart of, by name: stiff motors with a speed or position, soft joints,
    wheels, paths, restitution, meshes that are not convex; limits of a ball, unless they limit swing and twist both
    ways to one angle, which becomes MuJoCo's limit of the whole rotation; loops that a universal joint or a slider
    closes, or a joint with limits, friction, armature, a spring or a motor; OSError for a file that cannot be written.

    Limitations: where coefficients of friction differ, MuJoCo takes the larger one, not the geometric mean. MuJoCo's
    contacts and loops are soft. load_mjcf welds fixed bodies together. It reads velocities, and targets of motors, with
    keyframe="start". Visuals are left out.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model is {shown(model)}: expected a rigid.Model")
    path, text = file_path("path", path, "an MJCF file"), mjcf_text(model)
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return path


def mjcf_text(model):
    """A model as the text of an MJCF file. Args, Raises: see save_mjcf."""
    root = Writer(model).root
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def spanning_tree(model):
    """Which joints carry bodies, and which close loops.

    Returns: {child: joint} of those that carry; a list of the joints that close loops, without distances.
    """
    carriers, closing = {}, []
    for joint in model.joints:
        if joint.type.special == "distance":
            continue
        above = joint.parent
        while above != joint.child and above in carriers:
            above = carriers[above].parent
        if joint.child in carriers or above == joint.child:
            closing.append(joint)
        else:
            carriers[joint.child] = joint
    return carriers, closing


class Writer:
    """Writer of one model. Args: model. Attributes: root: the element of the whole file."""

    def __init__(self, model):
        model.initial_state()  # refuses bodies without mass
        self.model = model
        self.carriers, self.closing = spanning_tree(model)
        refuse_what_mjcf_has_not(model, self.closing)
        self.root = ElementTree.Element("mujoco", model="verletlab")
        self.add(self.root, "compiler", angle="radian")
        option = self.add(self.root, "option", gravity=model.gravity)
        if any(joint.collide and joint.parent != GROUND for joint in self.carriers.values()):
            self.add(option, "flag", filterparent="disable")
        self.assets = self.add(self.root, "asset")
        self.elements, self.speeds = {GROUND: self.add(self.root, "worldbody")}, []
        carried = {index: [] for index in (GROUND, *range(len(model.bodies)))}
        for index in range(len(model.bodies)):
            carried[self.carriers[index].parent if index in self.carriers else GROUND].append(index)
        self.add_bodies(carried)
        for k, piece in enumerate(model.shapes):
            self.add_geom(k, piece)
        self.contacts, self.tendons = self.add(self.root, "contact"), self.add(self.root, "tendon")
        self.equalities = self.add(self.root, "equality")
        for pair in sorted(model.exclusions):
            self.add(self.contacts, "exclude", **self.both("body1", pair[0], "body2", pair[1], "world"))
        for joint in model.joints:
            if joint.type.special == "distance":
                self.add_distance(joint)
        for spring in model.springs:
            self.add_tendon(spring.name, (spring.a, spring.anchor_a), (spring.b, spring.anchor_b),
                            springlength=spring.rest_length, **stiffness_of(spring))  # fmt: skip
        for joint in self.closing:
            self.add_closing(joint)
        for gear in model.gears:
            a, b = (model.joints[index].name for index in (gear.joint_a, gear.joint_b))
            self.add(self.equalities, "joint", name=gear.name, joint1=b, joint2=a, polycoef=(0, gear.ratio, 0, 0, 0))
        self.actuators = self.add(self.root, "actuator")
        targets = [self.add_motor(joint) for joint in model.joints if joint.motor is not None]
        if np.any(self.speeds) or np.any(targets):
            controls = {"ctrl": targets} if targets else {}
            self.add(self.add(self.root, "keyframe"), "key", name="start", qvel=self.speeds, **controls)
        for element in (self.assets, self.contacts, self.tendons, self.equalities, self.actuators):
            if not len(element):
                self.root.remove(element)

    @staticmethod
    def add(parent, tag, **attributes):
        """Add an element. Args: attributes: strings, numbers, or arrays of numbers. Returns: the element."""
        given = {name: value if isinstance(value, str) else numbers(value) for name, value in attributes.items()}
        return ElementTree.SubElement(parent, tag, given)

    def both(self, first, a, second, b, ground=None):
        """Attributes that name two bodies. Args: ground: name of the ground; None to leave it out."""
        named = {GROUND: ground}
        given = {name: named.get(index) or self.model.body(index).name for name, index in ((first, a), (second, b))
                 if index != GROUND or ground}  # fmt: skip
        return given

    # Bodies and joints ------------------------------------------------------------------------------------------------

    def add_bodies(self, carried):
        """Add all bodies, each before those that it carries. Args: carried: {index: indices}."""
        waiting = carried[GROUND][::-1]
        while waiting:  # no recursion: chains may be long
            index = waiting.pop()
            self.add_body(index)
            waiting += carried[index][::-1]

    def add_body(self, index):
        """Add a body with its joint."""
        body, joint = self.model.bodies[index], self.carriers.get(index)
        parent = self.model.body(joint.parent if joint else GROUND)
        pose = {"pos": parent.local_point(body.position), "quat": multiply(conjugate(parent.rotation), body.rotation)}
        if body.gravity_scale != 1.0:
            pose["gravcomp"] = 1.0 - body.gravity_scale
        element = self.add(self.elements[joint.parent if joint else GROUND], "body", name=body.name, **pose)
        self.elements[index] = element
        inertia = body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        self.add(element, "inertial", pos=np.zeros(3), mass=body.mass, fullinertia=inertia)
        if joint is None:
            self.add(element, "freejoint")
            self.speeds += [*body.velocity, *body.local_direction(body.angular_velocity)]
        elif joint.type.special == "ball":
            self.add_ball(element, joint, parent, body)
        else:
            self.add_coordinates(element, joint, parent, body)

    def add_ball(self, element, joint, parent, body):
        """Add the ball that carries a body. Args: see add_coordinates."""
        limits = joint.twist_limits if joint.swing_limit == math.inf else (0.0, joint.swing_limit)
        self.speeds += [*body.local_direction(body.angular_velocity - parent.angular_velocity)]
        self.add(element, "joint", name=joint.name, type="ball", pos=joint.child_anchor, frictionloss=joint.friction,
                 **range_of(limits), **stiffness_of(joint.spring))  # fmt: skip

    def add_coordinates(self, element, joint, parent, body):
        """Add the joint that carries a body, coordinate by coordinate.

        Args: element: of the body; joint; parent, body: Bodies.
        """
        spin = body.local_direction(body.angular_velocity - parent.angular_velocity)
        carried = np.cross(parent.angular_velocity, body.position - parent.position)
        drift = body.local_direction(body.velocity - parent.velocity - carried) + np.cross(spin, joint.child_anchor)
        of_all = [coordinate.drives(joint) for coordinate in joint.type.coordinates]
        named = next((k for k, drives in enumerate(of_all) if drives.motor is not None), 0)
        for k, (coordinate, drives) in enumerate(zip(joint.type.coordinates, of_all)):
            axis, limits = joint.child_axes[coordinate.axis], joint.coordinate_limits()[k]
            given = {"pos": joint.child_anchor, "axis": axis, "frictionloss": drives.friction}
            if joint.armature:
                given["armature"] = joint.armature
            if drives.spring is not None:
                given["springref"] = drives.spring.rest
            element_type = ELEMENTS[type(coordinate)]
            name = {"name": joint.name} if k == named else {}
            self.add(element, "joint", type=element_type, **name, **range_of(limits), **given,
                     **stiffness_of(drives.spring))  # fmt: skip
            self.speeds.append((drift if element_type == "slide" else spin) @ axis)

    def add_geom(self, k, piece):
        """Add shape k to its body or the ground."""
        given = geom_of(self.model, piece)
        vertices = given.pop("vertices", None)
        if vertices is not None:
            given["mesh"] = self.add(self.assets, "mesh", name=f"hull {k}", vertex=vertices).get("name")
        self.add(self.elements[piece.body], "geom", pos=piece.position, quat=piece.rotation, **given)

    def add_motor(self, joint):
        """Add the actuator of a joint. Returns: its control, the motor's target."""
        motor, given = joint.motor, {"name": joint.name, "joint": joint.name}
        if motor.max_effort < math.inf:
            given["forcerange"] = (-motor.max_effort, motor.max_effort)
        gains = {"kp": motor.stiffness or 0.0, "kv": motor.damping or 0.0}
        kind = {"torque": "motor", "position": "position", "speed": "velocity"}[motor.controls]
        used = {"motor": (), "position": ("kp", "kv"), "velocity": ("kv",)}[kind]
        self.add(self.actuators, kind, **given, **{name: gains[name] for name in used})
        return motor.target

    # Constraints between bodies ---------------------------------------------------------------------------------------

    def add_closing(self, joint):
        """Add the equality constraints of a joint that closes a loop. Their anchors are in the child's frame."""
        anchor, bodies = joint.child_anchor, self.both("body1", joint.child, "body2", joint.parent)
        if len(joint.type.right_angles) == 3:
            self.add(self.equalities, "weld", name=joint.name, anchor=anchor, **bodies)
            return
        self.add(self.equalities, "connect", name=joint.name, anchor=anchor, **bodies)
        if joint.type.right_angles:  # a hinge: another point on its axis, as far away as the child is large
            body = self.model.bodies[joint.child]
            arm = math.sqrt(np.trace(body.inertia) / body.mass)
            second = anchor + arm * joint.child_axes[0]
            self.add(self.equalities, "connect", name=f"{joint.name} axis", anchor=second, **bodies)

    def add_distance(self, joint):
        """Add the tendon of a distance joint."""
        low, high = joint.limits
        ends = (joint.parent, joint.parent_anchor), (joint.child, joint.child_anchor)
        if low == high:
            self.add_tendon(joint.name, *ends)
            self.add(self.equalities, "tendon", name=joint.name, tendon1=joint.name)
        else:
            longest = min(joint.length + high, UNLIMITED)
            self.add_tendon(joint.name, *ends, range=(max(joint.length + low, 0.0), longest))

    def add_tendon(self, name, *ends, **attributes):
        """Add a spatial tendon. Args: ends: (body, point in its frame) of both; attributes: of the tendon."""
        tendon = self.add(self.tendons, "spatial", name=name, **attributes)
        for k, (body, point) in enumerate(ends):
            site = self.add(self.elements[body], "site", name=f"{name} {'ab'[k]}", pos=point, size=0.001)
            self.add(tendon, "site", site=site.get("name"))


def range_of(limits):
    """Attribute of joint limits (low, high), nothing without any."""
    return {} if limits == NO_LIMITS else {"range": np.clip(limits, -UNLIMITED, UNLIMITED)}


def stiffness_of(spring):
    """Attributes of a Spring or PointSpring; none for None."""
    return {} if spring is None else {"stiffness": spring.stiffness, "damping": spring.damping}


def numbers(values):
    """Format a number or an array of numbers with all digits."""
    return " ".join(repr(float(value)) for value in np.ravel(values))
