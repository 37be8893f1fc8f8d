"""Kernels of Taichi: the only folder of the project that knows how they are made, read and launched.

Import from here. `KERNELS` says which of three modes runs (mode.py); each has the same names and the same bits.

    mode.py runtime.py      the mode; what `ti.init` chose
    arrays.py define.py     arrays declared once, and the text of kernels that follows from them
    settings.py             how Taichi compiles them
    launch_length.py device_copies.py traffic.py    launches on a graphics card
    quick/                  kernels that are read, compiled and launched by private functions of Taichi
    lanes/                  worlds in the lanes of vectors, for quick kernels
    public/                 kernels by Taichi's public interface
    plain/                  kernels as Python
"""

from pbd.core.kernels.mode import KERNELS

if KERNELS == "quick":
    import pbd.core.kernels.quick.reading.definitions  # first, as it makes `@ti.func` quick

from pbd.core.kernels import settings
from pbd.core.kernels.arrays import (
    Columns,
    Host,
    Integer,
    NoArrays,
    Real,
    RowsOfWorld,
    Typed,
    Vector,
    allocate,
    arrays_of,
    count,
    fields_of,
    memory_of,
    read,
    with_lanes,
    write,
)
from pbd.core.kernels.define import left_out
from pbd.core.kernels.device_copies import held
from pbd.core.kernels.lanes.choice import choose_lanes
from pbd.core.kernels.lanes.layout import InWorlds, Placed, Scratch, Substitute
from pbd.core.kernels.launch_length import LaunchLength, count_last_turns, ends_loops, refuse_ended_loops
from pbd.core.kernels.public.columns import load_quaternion, load_vector, store_quaternion, store_vector, three_of
from pbd.core.kernels.runtime import (
    LOOP_STRIDE,
    UsesTaichi,
    default_config,
    in_taichi,
    lanes_of_register,
    on_cpu,
    real_bits,
    real_type,
    refuse_forked,
    require_taichi,
    threads,
)
from pbd.core.kernels.traffic import TRAFFIC

if KERNELS == "quick":
    from pbd.core.kernels.lanes.each_world import each_world, in_all_lanes, in_lanes
    from pbd.core.kernels.lanes.numbers import FirstRows, SingleItems, in_numbers, largest_of_lanes, rotated
    from pbd.core.kernels.lanes.packs import gathered, in_packs, scatter
    from pbd.core.kernels.lanes.statements import any_world
    from pbd.core.kernels.quick.compilation import compiling
    from pbd.core.kernels.quick.functions import compiled_once, hidden_if
    from pbd.core.kernels.quick.launch import Launch, make_kernel
else:
    from pbd.core.kernels.public.columns import (
        FirstRows,
        SingleItems,
        any_world,
        each_world,
        gathered,
        in_all_lanes,
        in_lanes,
        in_numbers,
        in_packs,
        largest_of_lanes,
        rotated,
        scatter,
    )
    from pbd.core.kernels.public.functions import compiled_once, hidden_if
    from pbd.core.kernels.settings import exactly as compiling

    if KERNELS == "public":
        from pbd.core.kernels.public.launch import Launch, make_kernel
    else:
        from pbd.core.kernels.plain.launch import Launch, make_kernel
