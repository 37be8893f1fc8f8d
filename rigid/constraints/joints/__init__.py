"""Joints as rows (rigid/constraints/rows.py): what each keeps together, and what acts along the freedom it leaves.

    table.py      the arrays: joints, coordinates and drives of all worlds, from models
    rows.py       write_joint_rows, to be called in a solver's kernel: read this
    place.py      where the two ends of a joint are: anchors, arms, triads; the rows that many joints share
    ball.py hinge.py universal.py slider.py fixed.py distance.py    one joint each: its rows and its coordinates
    drive.py      limits, friction, motors and springs along a coordinate, gears between two
    positions.py  what a person reads of a state: joint positions and velocities

A coordinate is a number q of two bodies with the derivative of a row: a hinge's angle, a slider's shift, the two angles
of a universal joint, swing and twist of a ball, the length of a distance or of a spring. The rows are those of [4] in
docs/solvers.md, with its angle of a hinge, a sine that turns back at 90°, replaced by the angle itself, counted on past
full turns.
"""
