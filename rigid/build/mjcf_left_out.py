"""What of a compiled MuJoCo model has no counterpart in a Model, in words for the warning of load_mjcf."""

import numpy as np

from pbd.core.messages import listed
from rigid.build.mjcf_joints import BALL, FREE

LONGEST = 200  # characters of a list of names
MOST = 3  # names in a list of parts, which are only counted if there are more

# Counts of the compiled model.
COUNTED = {
    "nsensor": "sensors", "nflex": "flexes", "nskin": "skins", "npair": "contact pairs", "nplugin": "plugins",
}  # fmt: skip

# Arrays that are zero where there is nothing to say. Some are newer than MuJoCo 3.0.
NAMED = {
    "jnt_stiffnesspoly": "nonlinear stiffness", "dof_dampingpoly": "nonlinear damping",
    "jnt_springyield": "plastic springs", "jnt_actgravcomp": "gravity compensation by actuators",
    "geom_margin": "contact margins", "geom_adhesion": "adhesion", "geom_surfacevel": "surface velocities",
}  # fmt: skip

SOFT = {"geom": "contacts", "jnt": "limits", "dof": "friction", "eq": "loops"}  # prefixes of solref and solimp
RIGID = {"solref": (0.02, 1.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0)}  # MuJoCo's defaults


def left_out(reader):
    """Descriptions of parts without a counterpart in a Model, a list of strings.

    Args: reader: a rigid.build.mjcf.Reader, after add_to.
    """
    m = reader.compiled
    found = [some("actuators", reader.loose)] if reader.loose else []
    found += [f"{what} ({getattr(m, count)})" for count, what in COUNTED.items() if getattr(m, count, 0)]
    if m.ntendon:
        found.append(some("tendons", [reader.label("tendon", k) for k in range(m.ntendon)]))
    if m.neq > reader.equalities:
        found.append(f"equality constraints ({m.neq - reader.equalities})")
    if reader.missed:
        found.append(f"geoms of unsupported type or without volume ({', '.join(reader.missed)})")
    kinds = m.jnt_type[m.dof_jntid]
    found += named(reader, "armature of free and ball joints", "dof", m.dof_armature * np.isin(kinds, (FREE, BALL)))
    found += named(reader, "damping of free joints", "dof", m.dof_damping * (kinds == FREE))
    for array, what in NAMED.items():
        if hasattr(m, array):
            found += named(reader, what, array.partition("_")[0], getattr(m, array))
    if not reader.rolling:
        found += named(reader, "rolling and spinning friction", "geom", (m.geom_condim > 3) & (reader.bits[:, 0] > 0))
    soft = [what for prefix, what in SOFT.items() if is_soft(m, prefix)]
    if soft:
        found.append(f"softness (solref, solimp) of {', '.join(soft)}")
    if m.opt.density or m.opt.viscosity:
        found.append("drag of the medium")
    return found


def some(what, names):
    """Words for parts, by their names or, if there are many, by their number. Args: what: words; names."""
    return f"{what} ({', '.join(names) if len(names) <= MOST else len(names)})"


def named(reader, what, prefix, values):
    """Words for the items whose values are not all zero: a list of at most one string. Args: what: words; prefix: geom,
    jnt, dof; values: (items, ...)."""
    items = [k for k, value in enumerate(values) if np.any(value)]
    if prefix == "dof":
        items = dict.fromkeys(reader.compiled.dof_jntid[items])
    names = [reader.label("geom" if prefix == "geom" else "joint", k) for k in items]
    return [f"{what} ({listed(names, LONGEST)})"] if names else []


def is_soft(compiled, prefix):
    """Whether solref or solimp of some items differ from MuJoCo's defaults. Args: prefix: of the arrays."""
    return any((getattr(compiled, f"{prefix}_{name}") != usual).any() for name, usual in RIGID.items())
