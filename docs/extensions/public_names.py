"""The directive `public-names MODULE`: an entry for each name of `__all__`, from its docstring."""

import importlib
import inspect

from sphinx.util.docutils import SphinxDirective

from pbd.core.shapes.shape import Shape

STANDARD = "object, tuple, BaseException, Exception, ArithmeticError, RuntimeError, ValueError, LookupError"


def entry(module, name):
    """reStructuredText for one name of a module; "" for a module, which has a page of its own."""
    value = getattr(importlib.import_module(module), name)
    if inspect.ismodule(value):
        return ""
    if module != "pbd" and getattr(importlib.import_module("pbd"), name, None) is value:
        return f"``{module}.{name}`` is :class:`pbd.{name}`.\n"
    if inspect.isclass(value):
        internal = ", ".join(vars(Shape)) if issubclass(value, Shape) else ""  # kernels read these methods of shapes
        options = f":members:\n   :inherited-members: {STANDARD}\n   :exclude-members: {internal}"
        return f".. autoclass:: {module}.{name}\n   {options}\n"
    if callable(value):
        return f".. autofunction:: {module}.{name}\n"
    return f".. py:data:: {name}\n   :module: {module}\n   :value: {value!r}\n"


class PublicNames(SphinxDirective):
    """Entries for the names of a module. The argument is the module, the content selects names; without it, all."""

    required_arguments = 1
    has_content = True

    def run(self):
        """Nodes of the entries."""
        (module,) = self.arguments
        names = list(self.content) or sorted(importlib.import_module(module).__all__)
        return self.parse_text_to_nodes("\n".join(entry(module, name) for name in names))


def setup(app):
    """Register the directive."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
