"""Equations as MathML, which browsers draw without a script or a network."""

import re

from docutils import nodes
from docutils.utils.math import latex2mathml

# Characters that docutils does not know.
COMMANDS = {"∇": r"\nabla ", "⊥": r"\perp ", "≤": r"\le ", "≥": r"\ge ", "±": r"\pm "}


def mathml(text, as_block=False):
    """MathML of an equation in LaTeX. Args: text; as_block: on a line of its own."""
    for character, command in COMMANDS.items():
        text = text.replace(character, command)
    found = latex2mathml.tex2mathml(text, as_block=as_block)
    return re.sub(r"<mo>∶</mo>\s*<mo>=</mo>", "<mo>:=</mo>", found)  # one operator, or browsers set a gap between both


def visit_math(translator, node):
    """Write an equation within text."""
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(translator, node):
    """Write an equation on a line of its own."""
    translator.body.append(f'<div class="equation">{mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer, as `html_math_renderer = "mathml"`."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
