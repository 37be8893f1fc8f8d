"""Joints as rows (rigid/constraints/rows.py): constraints, and drives along the degrees of freedom.

    data.py       arrays and their columns
    builder.py    makes the arrays of joints, springs and gears from models
    rows.py       write_joint_rows, which a solver's kernel calls: read this first
    frames.py     where the two ends of a joint are
    locks.py      rows that keep joints closed
    coordinates.py    shifts and angles that types of joints declare (rigid/joints/joint_type.py)
    special.py    ball.py distance.py wheel.py: what is not declared, but written by a file for one type
    drive.py      limits, friction, motors and springs along a coordinate, gears between two
    positions.py  joint positions and velocities from a state
    gaps.py       joint errors from a state

A coordinate is a number q of two bodies whose derivative is like that of a row: a hinge's angle, a slider's shift, the
two angles of a universal joint, swing and twist of a ball, the length of a distance or spring. The rows are those of
[4] in docs/solvers/sources.md. For the angle of a hinge, [4] uses a sine, which decreases again beyond 90°. Here the
angle itself is used and counted past full turns.
"""
