"""Models from MJCF files, the XML of MuJoCo, through MuJoCo's own parser: the compiled model is what is read here.

    MJCF                        here
    body                        body: MuJoCo's mass, centre and inertia; one without joints is part of its parent
    one joint                   hinge, slider, ball, or none where it is free
    two hinges at right angles  universal
    three at right angles       ball: its cone about the hinge most along the limb, whose limits are the twist's
    other joints of one body    a chain: light bodies between, a LINK of the body's mass and inertia each
    contype, conaffinity        group, mask: one bit for each pair of numbers in the file
    exclude, parent and child   pairs of bodies that never touch

Joint positions count from qpos0, or from the nearest end of a range that does not hold it.

Source: MuJoCo documentation, XML reference and Computation; its parser is an extra, `pip install 'verletlab[mjcf]'`.
"""

import warnings
from os import PathLike
from pathlib import Path

import numpy as np

from rigid.build.mjcf_joints import FREE, HINGE, SLIDE, add_joint, grouped, joint_of
from rigid.build.mjcf_shapes import ELLIPSOID, contact_bits, shape_of
from rigid.mass import MassProperties, combined
from rigid.model import Model
from rigid.names import GROUND

LINK = 1 / 50  # part of a body's mass that each body of a chain takes: small, and not so light that solvers are slow

# What the compiled model counts, and a person would miss.
COUNTED = {
    "nu": "actuators", "ntendon": "tendons", "nsensor": "sensors", "neq": "equality constraints", "nflex": "flexes",
    "nskin": "skins", "npair": "contact pairs", "nplugin": "plugins", "nmocap": "mocap bodies",
}  # fmt: skip


def load_mjcf(path, model=None, *, name=None):
    """Add what an MJCF file describes to a model.

    Arguments:
        path: of the file.
        model: a rigid.Model; None for a new one, with the file's gravity.
        name: put before all names with a stroke, for a file that is loaded more than once; None for none.

    Returns: the model.

    Warns: UserWarning, once, of all that was left out or is approximated.

    Raises: FileNotFoundError for a file that is not there; ValueError for one that MuJoCo's parser refuses, with its
    words; ImportError where MuJoCo is not installed; and whatever Model says of names that are taken.

    Limitations: where two geoms touch, friction is the geometric mean of theirs and not the larger one, and torsional
    and rolling friction are left out; excluding the contact of a body excludes that of those welded to it. Materials,
    sites, cameras, lights and keyframes have no counterpart and are not mentioned.
    """
    if model is not None and not isinstance(model, Model):
        raise TypeError(f"model is {model!r}: expected a rigid.Model, or None")
    reader = Reader(path, name)
    model = Model(gravity=reader.compiled.opt.gravity) if model is None else model
    reader.add_to(model)
    said = [f"{what}: {'; '.join(found)}" for what, found in (("left out", reader.left_out()),
            ("approximated", reader.approximated)) if found]  # fmt: skip
    if said:
        warnings.warn(f"{path}: {'. '.join(said)}", UserWarning, stacklevel=2)
    return model


class Reader:
    """One file on its way into a Model. Arguments: path; prefix of all names, or None.

    Attributes: compiled, MuJoCo's mjModel; data, its mjData in the starting pose; approximated: what is, in words.
    """

    def __init__(self, path, prefix):
        try:
            import mujoco
        except ImportError as error:
            raise ImportError("MJCF is read by MuJoCo's parser: expected `pip install 'verletlab[mjcf]'`") from error
        if not isinstance(path, (str, PathLike)):
            raise TypeError(f"path is {path!r}: expected that of an MJCF file")
        if not Path(path).is_file():
            raise FileNotFoundError(f"no MJCF file {path}")
        try:
            m = mujoco.MjModel.from_xml_path(str(path))
        except ValueError as error:
            words = " ".join(str(error).split())
            raise ValueError(f"{path} is no MJCF file that MuJoCo reads: {words}") from error
        self.compiled, self.data, self.prefix = m, mujoco.MjData(m), prefix
        self.bits = contact_bits(m)
        self.approximated, self.missed, self.ellipsoids = [], [], []  # in words; labels of geoms, of the last two
        for j in np.flatnonzero(m.jnt_limited):
            place = m.jnt_qposadr[j]
            if m.jnt_type[j] in (SLIDE, HINGE):
                start = np.clip(m.qpos0[place], *m.jnt_range[j])
                if start != m.qpos0[place]:
                    self.approximated.append(f"{self.name_of('joint', j) or 'a joint'} starts at {start:g}, in range")
                self.data.qpos[place] = start
        mujoco.mj_kinematics(m, self.data)

    def add_to(self, model):
        """Add bodies, shapes, joints and exclusions to a model."""
        m = self.compiled
        self.model, self.indices = model, {0: GROUND}
        # The highest body of those that are welded together stands for them; parents come before their children.
        for body in np.unique(m.body_weldid)[1:]:
            self.add_body(int(body))
        for geom in np.flatnonzero(self.bits[:, 0]):  # the others are only to be seen
            self.add_geom(int(geom))
        for signature in m.exclude_signature:
            pair = self.index_of(int(signature) >> 16), self.index_of(int(signature) & 0xFFFF)
            if pair[0] != pair[1]:
                model.exclude_contact(*pair)
        if self.ellipsoids:
            self.approximated.append(f"ellipsoids, which are hulls of points on them ({', '.join(self.ellipsoids)})")

    def name_of(self, kind, index):
        """The name that a body, joint or geom gets in the Model, or None."""
        name = getattr(self.compiled, kind)(int(index)).name
        return f"{self.prefix}/{name}" if name and self.prefix else name or None

    def index_of(self, body):
        """The Model's index of the body that one of the compiled model is part of."""
        return self.indices[int(self.compiled.body_weldid[body])]

    def add_body(self, body):
        """Add a body with all that is welded to it, and its joints."""
        m, data, name = self.compiled, self.data, self.name_of("body", body)
        parts = []
        for k in np.flatnonzero((m.body_weldid == body) & (m.body_mass > 0)):
            R = data.ximat[k].reshape(3, 3)
            parts.append(MassProperties(float(m.body_mass[k]), data.xipos[k], R * m.body_inertia[k] @ R.T))
        whole, R = combined(parts), data.xmat[body].reshape(3, 3)
        inertia = R.T @ whole.inertia @ R
        first, last = int(m.body_jntadr[body]), int(m.body_jntadr[body] + m.body_jntnum[body])
        movable = [j for j in range(first, last) if m.jnt_type[j] != FREE]
        groups = grouped([joint_of(m, data, j, self.name_of("joint", j)) for j in movable])

        def part(share, name):
            return self.model.add_body(
                mass=share * whole.mass, inertia=share * (inertia + inertia.T) / 2, position=whole.centre,
                rotation=data.xquat[body], name=name,
            )  # fmt: skip

        ancestor = parent = self.index_of(m.body_parentid[body])
        for group in groups[:-1]:
            label = group[0].name
            link = part(LINK, f"{label} link" if label else None)
            self.approximated += add_joint(self.model, parent, link, group)
            parent = link
        between = max(len(groups) - 1, 0)
        child = self.indices[body] = part(1 - between * LINK, name)
        if groups:
            self.approximated += add_joint(self.model, parent, child, groups[-1])
        if between:
            if ancestor != GROUND:
                self.model.exclude_contact(ancestor, child)
            light = f"{between} light bod{'y' if between == 1 else 'ies'} of {LINK:.0%} of its mass"
            self.approximated.append(f"{light} between the joints of {name or f'body {child}'}")

    def add_geom(self, geom):
        """Add a geom to the body that it is part of, or to the ground."""
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
        self.model.add_shape(body, shape, friction=friction, group=group, mask=mask)

    def left_out(self):
        """What has no counterpart here, in words."""
        m = self.compiled
        found = [f"{what} ({getattr(m, count)})" for count, what in COUNTED.items() if getattr(m, count, 0)]
        if self.missed:
            found.append(f"geoms of a kind that there is not, or flat ({', '.join(self.missed)})")
        if m.dof_armature.any():
            found.append("armature")
        if m.body_gravcomp.any():
            found.append("gravity compensation")
        if m.opt.density or m.opt.viscosity:
            found.append("drag of the medium")
        return found
