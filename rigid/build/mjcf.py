"""Models from MJCF files, MuJoCo's XML format. MuJoCo's own parser compiles the file; this reads the compiled model.

    MJCF                          Model
    body                          body with MuJoCo's mass, centre and inertia; without joints it is part of its parent
    one joint                     hinge, slider or ball; none for a free joint
    two hinges at right angles    universal, without armature
    three hinges at right angles  ball, without armature; the hinge closest to the limb's direction gives the twist
    other joints of one body      chain of joints with light bodies between, each with LINK of the mass and inertia
    contype, conaffinity          group, mask: one bit for each pair of values in the file
    exclude, parent and child     pairs of bodies that never collide
    equality of two joints        gear, if it is linear

Joint positions are relative to qpos0, or to the nearest end of the joint's range if qpos0 is outside.

Source: MuJoCo documentation, XML reference and Computation. The parser is an extra: `pip install 'verletlab[mjcf]'`.
"""

import warnings

import numpy as np

from pbd.core.messages import clipped, shown
from pbd.core.validate import boolean, file_path, finite_number, one_line
from rigid.build.mjcf_joints import BALL, FREE, HINGE, SLIDE, TOGETHER, add_joint, grouped, joint_of
from rigid.build.mjcf_shapes import ELLIPSOID, contact_bits, shape_of
from rigid.mass import MassProperties, combined
from rigid.model import Model
from rigid.names import GROUND

LINK = 1 / 50  # part of the mass in each light body of a chain: small, but not so light that solvers converge slowly

MOST_LINK = 0.1  # a body may have six joints, with five such bodies between

GEARING = 2  # mjtEq: a polynomial of one joint's position gives that of another

# Parts that a Model cannot contain, and that the warning mentions: counts of the compiled model.
COUNTED = {
    "nu": "actuators", "nsensor": "sensors", "nflex": "flexes",
    "nskin": "skins", "npair": "contact pairs", "nplugin": "plugins", "nmocap": "mocap bodies",
}  # fmt: skip


def load_mjcf(path, model=None, *, name=None, merge=None, link_mass=LINK):
    """Add the bodies and joints of an MJCF file to a model.

    Args:
        path: of the file.
        model: a rigid.Model; None for a new one with the file's gravity.
        name: prefix of all names, followed by "/", to load a file more than once; None for none.
        merge: whether two or three hinges at right angles become one universal or ball joint, without armature. False
            keeps each joint, with light bodies between. None: where no armature is lost.
        link_mass: the part of a body's mass and inertia in each light body before it. Less is more exact, but iterative
            solvers converge more slowly; for "articulated" 1e-6 is fine.

    Returns: the model.

    Warns: UserWarning, once, with everything that is left out or approximated.

    Raises: FileNotFoundError for a missing file; ValueError for a file that MuJoCo's parser rejects, with its message;
    ImportError if MuJoCo is not installed; ValueError for a name that is taken.

    Limitations: the friction coefficient at a contact is the geometric mean of both geoms', not the larger one. Rolling
    and spinning friction are left out (MuJoCo's rolling and torsional friction). Excluding a body from contacts
    excludes the bodies welded to it, too. Materials, sites, cameras, lights and keyframes are left out without a
    warning.
    """
    if model is not None and not isinstance(model, Model):
        raise TypeError(f"model is {shown(model)}: expected a rigid.Model, or None")
    if merge is not None:
        merge = boolean("merge", merge)
    if not 0.0 < finite_number("link_mass", link_mass) <= MOST_LINK:
        raise ValueError(f"link_mass is {link_mass:g}: expected a number above 0, and at most {MOST_LINK:g}")
    reader = Reader(path, name, merge, float(link_mass))
    model = Model(gravity=reader.compiled.opt.gravity) if model is None else model
    with model.transaction():
        reader.add_to(model)
    notes = (("left out", reader.left_out()), ("approximated", reader.approximated), ("welded", reader.welded))
    said = [f"{what}: {'; '.join(found)}" for what, found in notes if found]
    if said:
        warnings.warn(f"{path}: {'. '.join(said)}", UserWarning, stacklevel=2)
    return model


class Reader:
    """Reader of one file. Args: path; prefix: of all names, or None; merge, link_mass: see load_mjcf.

    Attributes: compiled: MuJoCo's mjModel; data: its mjData in the starting pose; approximated: descriptions of what is
    approximated, a list of strings.
    """

    def __init__(self, path, prefix, merge=None, link_mass=LINK):
        try:
            import mujoco
        except ImportError as error:
            raise ImportError("mujoco is missing: expected `pip install 'verletlab[mjcf]'` before load_mjcf") from error
        path = file_path("path", path, "an MJCF file")
        if not path.is_file():
            raise FileNotFoundError(f"no file {clipped(path)}: expected an MJCF file")
        try:
            m = mujoco.MjModel.from_xml_path(str(path))
        except ValueError as error:
            words = clipped(error)
            expected = f"{clipped(path, 50)}: expected an MJCF file, but MuJoCo's parser says"
            raise ValueError(f"{expected}: {words}") from error
        self.compiled, self.data, self.prefix = m, mujoco.MjData(m), prefix and one_line("name", prefix)
        self.bits, self.merge, self.link_mass = contact_bits(m), merge, link_mass
        self.approximated, self.missed, self.ellipsoids = [], [], []  # the last two are labels of geoms
        self.welded = []
        self.joints, self.gears = {}, 0  # {index in the file: index in the Model} of single joints; number of gears
        for j in np.flatnonzero(m.jnt_limited):
            place = m.jnt_qposadr[j]
            if m.jnt_type[j] in (SLIDE, HINGE):
                start = np.clip(m.qpos0[place], *m.jnt_range[j])
                if start != m.qpos0[place]:
                    name = self.name_of("joint", j) or "a joint"
                    self.approximated.append(f"{name} starts at {start:g}, the end of its range")
                self.data.qpos[place] = start
        mujoco.mj_kinematics(m, self.data)

    def add_to(self, model):
        """Add bodies, shapes, joints and exclusions to a model."""
        m = self.compiled
        self.model, self.indices = model, {0: GROUND}
        # Of bodies welded together the topmost one is added. Parents come before their children.
        for body in np.unique(m.body_weldid)[1:]:
            self.add_body(int(body))
        for geom in np.flatnonzero(self.bits[:, 0]):  # the other geoms are only visual
            self.add_geom(int(geom))
        for k in np.flatnonzero(m.eq_type == GEARING):
            self.add_gear(int(k))
        for signature in m.exclude_signature:
            pair = self.index_of(int(signature) >> 16), self.index_of(int(signature) & 0xFFFF)
            if pair[0] != pair[1]:
                model.exclude_contact(*pair)
        if self.ellipsoids:
            self.approximated.append(f"ellipsoids replaced by convex hulls ({', '.join(self.ellipsoids)})")

    def name_of(self, kind, index):
        """Name of a body, joint or geom in the Model, or None."""
        name = getattr(self.compiled, kind)(int(index)).name
        return f"{self.prefix}/{name}" if name and self.prefix else name or None

    def index_of(self, body):
        """Index in the Model of a body of the compiled model."""
        return self.indices[int(self.compiled.body_weldid[body])]

    def add_body(self, body):
        """Add a body with the bodies welded to it, and its joints."""
        m, data, name = self.compiled, self.data, self.name_of("body", body)
        parts = []
        for k in np.flatnonzero((m.body_weldid == body) & (m.body_mass > 0)):
            if k != body:
                label = self.name_of("body", k) or f"body {k}"
                self.welded.append(f"{label} ({m.body_mass[k]:.3g} kg) to {name or f'body {body}'}")
            R = data.ximat[k].reshape(3, 3)
            parts.append(MassProperties(float(m.body_mass[k]), data.xipos[k], R * m.body_inertia[k] @ R.T))
        whole, R = combined(parts), data.xmat[body].reshape(3, 3)
        inertia = R.T @ whole.inertia @ R
        first, last = int(m.body_jntadr[body]), int(m.body_jntadr[body] + m.body_jntnum[body])
        movable = [j for j in range(first, last) if m.jnt_type[j] != FREE]
        groups = grouped([joint_of(m, data, j, self.name_of("joint", j)) for j in movable], self.merge)

        def part(share, name):
            return self.model.add_body(
                mass=share * whole.mass, inertia=share * (inertia + inertia.T) / 2, position=whole.centre,
                rotation=data.xquat[body], name=name,
            )  # fmt: skip

        ancestor = parent = self.index_of(m.body_parentid[body])
        for group in groups[:-1]:
            label = group[0].name
            link = part(self.link_mass, f"{label} link" if label else None)
            self.approximated += add_joint(self.model, parent, link, group)
            parent = link
        between = max(len(groups) - 1, 0)
        child = self.indices[body] = part(1 - between * self.link_mass, name)
        if groups:
            self.approximated += add_joint(self.model, parent, child, groups[-1])
        if len(groups) == len(movable):
            added = len(self.model.joints)
            self.joints |= dict(zip(movable, range(added - len(groups), added)))
        if between:
            if ancestor != GROUND:
                self.model.exclude_contact(ancestor, child)
            light = f"{between} light bod{'y' if between == 1 else 'ies'} with {self.link_mass:.2g} of the mass"
            self.approximated.append(f"{light} between the joints of {name or f'body {child}'}")

    def add_geom(self, geom):
        """Add a geom to its body, or to the ground."""
        m, label = self.compiled, self.name_of("geom", geom) or f"geom {geom}"
        try:
            shape = shape_of(m, self.data, geom)
        except ValueError:  # a mesh without volume
            shape = None
        if shape is None:
            self.missed.append(label)
            return
        if m.geom_type[geom] == ELLIPSOID:
            self.ellipsoids.append(label)
        body, friction = self.index_of(m.geom_bodyid[geom]), float(m.geom_friction[geom, 0])
        group, mask = (int(bits) for bits in self.bits[geom])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of shapes far from their bodies: here that is what the file says
            self.model.add_shape(body, shape, friction=friction, group=group, mask=mask)

    def add_gear(self, k):
        """Add equality constraint k of two joints, if it is linear: q_1 = c_1 q_2, counted from the starting pose."""
        m = self.compiled
        joints = [int(m.eq_obj1id[k]), int(m.eq_obj2id[k])]
        constant, ratio, *higher = map(float, m.eq_data[k, :5])
        if joints[1] < 0 or any(higher) or not ratio or not m.eq_active0[k]:
            return
        first, second = (self.data.qpos[place] - m.qpos0[place] for place in m.jnt_qposadr[joints])
        single = [self.joints.get(joint) for joint in joints]
        if None in single or BALL in m.jnt_type[joints] or abs(first - constant - ratio * second) > TOGETHER:
            return
        self.model.add_gear(single[1], single[0], ratio, name=self.name_of("equality", k))
        self.gears += 1

    def left_out(self):
        """Descriptions of parts without a counterpart in a Model, a list of strings."""
        m = self.compiled
        found = [f"{what} ({getattr(m, count)})" for count, what in COUNTED.items() if getattr(m, count, 0)]
        if m.ntendon:
            found.append(f"tendons ({', '.join(self.name_of('tendon', k) or f'tendon {k}' for k in range(m.ntendon))})")
        if m.neq > self.gears:
            found.append(f"equality constraints ({m.neq - self.gears})")
        if self.missed:
            found.append(f"geoms of unsupported type or without volume ({', '.join(self.missed)})")
        several = [m.dof_jntid[k] for k in np.flatnonzero(m.dof_armature) if m.jnt_type[m.dof_jntid[k]] in (FREE, BALL)]
        if several:
            names = dict.fromkeys(self.name_of("joint", j) or f"joint {j}" for j in several)
            found.append(f"armature of free and ball joints ({', '.join(names)})")
        if m.body_gravcomp.any():
            found.append("gravity compensation")
        if m.opt.density or m.opt.viscosity:
            found.append("drag of the medium")
        return found
