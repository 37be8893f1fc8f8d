"""The text of functions and their syntax trees. Taichi 1.7.4 finds and parses them again at each call of a function."""

import ast
import functools
import inspect
import linecache
import textwrap
from collections import defaultdict

from taichi.lang import kernel_impl

find_lines = kernel_impl.getsourcelines


@functools.cache
def source_of(function):
    """Lines of a function's source, and the number of the first."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    if not lines:  # in a shell
        return find_lines(function)
    return block_of(lines[code.co_firstlineno - 1 :]), code.co_firstlineno


def block_of(lines):
    """Lines of the function that begins with the first. Python's own `getblock` takes 20 times as long."""
    indent, in_body, end = indent_of(lines[0]), False, len(lines)
    for index, line in enumerate(lines):
        if in_body and indent_of(line) <= indent and line.strip() and not line.lstrip().startswith((")", "#")):
            end = index
            break
        in_body = in_body or line.lstrip().startswith("def ")
    ends_in_string = any(sum(line.count(quotes) for line in lines[:end]) % 2 for quotes in ('"""', "'''"))
    return inspect.getblock(lines) if ends_in_string or not in_body else lines[:end]


def indent_of(line):
    """Indentation of a line."""
    return len(line) - len(line.lstrip())


class text:  # noqa: N801 - stands for the module `textwrap` in Taichi
    """Taichi's changes of the lines of a function: `fill` replaces tabs, and removes spaces at the end."""

    dedent = staticmethod(functools.cache(textwrap.dedent))

    @staticmethod
    def fill(line, tabsize, width):
        """A line of source, which is never wrapped."""
        return line.expandtabs(tabsize).rstrip()


# Trees that are not being read: {text: trees}.
IDLE = defaultdict(list)


class trees:  # noqa: N801 - stands for the module `ast` in Taichi
    """Taichi's parser. A tree that Taichi has read serves again: what it wrote into it is overwritten.

    Taichi empties the list of a kernel's parameters, so that is put back.
    """

    @staticmethod
    def parse(text):
        """A syntax tree of a function. Args: text: of its definition."""
        if IDLE[text]:
            return IDLE[text].pop()
        tree = ast.parse(text)
        tree.text, tree.parameters = text, tree.body[0].args.args
        return tree

    @staticmethod
    def put_back(tree):
        """Keep a tree that has been read for the next call of the function."""
        tree.body[0].args.args = tree.parameters
        IDLE[tree.text].append(tree)


# What is replaced in Taichi: (owner, name, replacement).
QUICK_SOURCE = [
    (kernel_impl, "getsourcelines", source_of),
    (kernel_impl, "getsourcefile", functools.cache(kernel_impl.getsourcefile)),
    (kernel_impl, "textwrap", text),
    (kernel_impl, "ast", trees),
]
