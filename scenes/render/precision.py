"""Types that do not depend on the default precision of ti.init.

Inside a kernel, a literal such as 0.5 and Vector.norm() have the type default_fp. If that is float64, everything that
meets them becomes float64. So pictures use explicit types: f32(0.5), and whole numbers, which take the type of the
other operand in sums and products, but not in quotients. A picture is then the same, and as fast, in both precisions.
"""

import taichi as ti

f32 = ti.f32
f64 = ti.f64
vec2 = ti.types.vector(2, ti.f32)
vec3 = ti.types.vector(3, ti.f32)
dvec2 = ti.types.vector(2, ti.f64)
dvec3 = ti.types.vector(3, ti.f64)
dvec4 = ti.types.vector(4, ti.f64)
ivec2 = ti.types.vector(2, ti.i32)
ivec4 = ti.types.vector(4, ti.i32)


@ti.func
def length(vector):
    """Euclidean length, in the type of the vector."""
    return ti.sqrt(vector.dot(vector))


@ti.func
def constant(colour: ti.template()):
    """A vector from a tuple of three numbers in a module."""
    return vec3(f32(colour[0]), f32(colour[1]), f32(colour[2]))


@ti.func
def row_of(matrix: ti.template(), row):
    """A vector from a row of an array (n, 3)."""
    return vec3(matrix[row, 0], matrix[row, 1], matrix[row, 2])
