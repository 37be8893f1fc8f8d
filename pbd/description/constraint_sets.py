"""The constraints of a description, by type, in the order in which they were added. Plain numpy, without Taichi."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from pbd.core.messages import listed, shown
from pbd.core.transaction import Growing
from pbd.core.validate import indices, one_of, spread


@dataclass
class ConstraintSet(Growing):
    """All constraints of one type, in the pieces in which they were added.

    Attributes:
        type: the name of a type in pbd/constraints, or a pbd.ConstraintType.
        compliant: whether each has a compliance.
        members, parameters: lists of arrays (n, arity) and (n, numbers).
        others: list of arrays (n, others), the constraints of this set that each is coupled to.
    """

    type: object
    compliant: bool
    members: list = field(default_factory=list)
    parameters: list = field(default_factory=list)
    others: list = field(default_factory=list)

    def coupled(self):
        """Numbers of the constraints that each is coupled to (n, others), or (n, 0)."""
        none = np.zeros((sum(map(len, self.members)), 0), np.int32)
        return np.concatenate(self.others) if self.others else none

    def arrays(self):
        """All members (n, arity) and parameters (n, numbers), each in one array."""
        self.members = [np.concatenate(self.members)]
        self.parameters = [np.concatenate(self.parameters)]
        return self.members[0], self.parameters[0]


class ConstraintSets(dict):
    """A ConstraintSet for each (type, compliant): rigid and compliant constraints of a type are two sets."""

    def copied(self):
        """A copy that does not change when something is added to this one."""
        lists = ("members", "parameters", "others")
        for each in self.values():
            each.arrays()  # one piece is shared, and many small ones are not kept
        return ConstraintSets(
            {key: replace(each, **{name: list(getattr(each, name)) for name in lists}) for key, each in self.items()}
        )

    def count(self, name):
        """How many compliant constraints there are of a type. Args: name: of the type."""
        return sum(map(len, self[name, True].members)) if (name, True) in self else 0

    def add(self, constraint_type, members, compliance, parameters, particle_count, coupled=None):
        """Add constraints.

        Args:
            constraint_type: a name or a pbd.ConstraintType.
            members: (n, arity) indices of particles.
            compliance: zero for a rigid constraint; for all, or one each (n,).
            parameters: {name: number for all, or one each (n,)}.
            particle_count: number of particles in the description.
            coupled: (n, others) which of these constraints each is coupled to, see `ConstraintType.coupled`.

        Raises: TypeError, ValueError or IndexError for constraints that the type does not allow.
        """
        found = look_up_type(constraint_type)
        name = found.name
        members = indices(f"{name} members", members, particle_count, found.arity)
        repeated = (np.diff(np.sort(members, axis=1), axis=1) == 0).any(axis=1)
        if repeated.any():
            raise ValueError(f"{name} on particles {shown(members[repeated][0])}: expected different ones")
        expected = found.parameters
        if set(parameters) != set(expected):
            given = listed(parameters, 60) or "none"
            raise TypeError(f"{name} with parameters {given}: expected {listed(expected)}")
        count = len(members)
        labels = [f"{name} {key}".replace("_", " ") for key in expected]
        columns = [spread(label, parameters[key], (count,), most=math.inf) for label, key in zip(labels, expected)]
        compliance = spread("compliance", compliance, (count,), signed=False, expected="zero (rigid) or more")
        if compliance.any() and found.compliant is None:
            raise ValueError(f"compliance is {compliance.max():g}: expected zero, {name} is always rigid")
        others = found.compliant.coupled if found.compliant else 0
        if others and (coupled is None or not compliance.all()):
            raise TypeError(f"{name} without coupled or without compliance: expected both")
        if coupled is not None:
            coupled = indices("coupled", coupled, count, others, of=f"{name}s")
        numbers = np.stack([*columns, compliance], axis=1)
        for compliant, chosen in ((False, compliance == 0), (True, compliance > 0)):
            if chosen.any():
                same = self.setdefault((constraint_type, compliant), ConstraintSet(constraint_type, compliant))
                if coupled is not None:
                    same.others.append((coupled + sum(map(len, same.members))).astype(np.int32))
                same.members.append(members[chosen].astype(np.int32))  # half the memory, for millions of constraints
                same.parameters.append(numbers[chosen] if compliant else numbers[chosen, :-1])


def look_up_type(given):
    """The pbd.ConstraintType of a name; a rigid ConstraintType itself. Raises: ValueError, TypeError for others."""
    from pbd.constraints import CONSTRAINT_TYPES, ConstraintType  # these modules contain kernels and import Taichi

    if isinstance(given, str):
        return CONSTRAINT_TYPES[one_of("constraint type", given, tuple(CONSTRAINT_TYPES))]
    if isinstance(given, ConstraintType) and not given.compliance:
        return given
    what = shown(given.name if isinstance(given, ConstraintType) else given)
    raise TypeError(f"constraint type is {what}: expected a pbd.ConstraintType without compliance, or a name")
