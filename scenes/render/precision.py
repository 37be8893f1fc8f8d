"""Types that stay what they are, whatever ti.init's default_fp.

Inside a kernel a literal such as 0.5, and Taichi's own Vector.norm(), have the type default_fp; where that is float64
they carry all they meet along into float64. So pictures are made of explicit types: f32(0.5) and its like, and whole
numbers, which adapt to what they meet in sums and products, though not in quotients. Then a picture is the same, and
as fast, under either default.
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
    """Euclidean length, in the vector's own type."""
    return ti.sqrt(vector.dot(vector))


@ti.func
def constant(colour: ti.template()):
    """A module's tuple of three numbers."""
    return vec3(f32(colour[0]), f32(colour[1]), f32(colour[2]))
