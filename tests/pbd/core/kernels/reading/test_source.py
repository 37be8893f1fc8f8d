"""The lines of a function are those that Python's own `inspect.getblock` finds."""

import inspect
import textwrap

import pytest

from pbd.core.kernels.quick.reading.source import block_of, text

PLAIN = """\
    @decorated
    def plain(a, b):
        # a comment
        return a + b

    def next():
"""
LONG_HEAD = """\
def long_head(
    a,
    b,
):
    if a:

        return b
# a comment to the left
    return a


x = 1
"""
LEFT_STRING = '''\
    def left_string(a):
        """Text
that begins further left
        """
        return a

    x = 1
'''
AT_END = "def at_end(a):\n    return a\n"


@pytest.mark.parametrize("source", [PLAIN, LONG_HEAD, LEFT_STRING, AT_END], ids=["plain", "head", "string", "end"])
def test_a_function_ends_where_python_says(source):
    lines = source.splitlines(keepends=True)
    expected = "".join(inspect.getblock(lines)).rstrip()
    assert "".join(block_of(lines)).rstrip() == expected


def test_lines_are_filled_as_taichi_fills_them():
    for line in ["    x = 1  \n", "\treturn 1\n", "\n", "   \n", "a = 'b  c'  # d\n"]:
        assert text.fill(line, tabsize=4, width=9999) == textwrap.fill(line, tabsize=4, width=9999)
