"""What joints of special types write besides what their types declare, by the name that JointType.special has.

The names are those of SPECIAL in rigid/joints/joint_type.py. Each function is called with (s, joint, row, c, ends,
world): row is the joint's first row, or -1; c its first coordinate; ends are from `joint_ends`.

rows.py calls it after it has written the rows of the type's translations and right angles, the first ones from `row`,
and the coordinates that are shifts or angles. The function writes the `special_rows` of the type, which follow these
rows, and all other coordinates.
"""

from rigid.constraints.joints.ball import write_ball
from rigid.constraints.joints.distance import write_distance
from rigid.constraints.joints.wheel import write_wheel

ROW_WRITERS = {"ball": write_ball, "distance": write_distance, "wheel": write_wheel}
