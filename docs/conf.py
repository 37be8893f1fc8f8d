"""Settings of Sphinx for the documentation site. `make docs` builds it into build/docs."""

import sys
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER / "extensions"), str(FOLDER), str(FOLDER.parent)]

project = "verletlab"
author = copyright = "the verletlab founders"
version = release = metadata.version("verletlab")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.linkcode",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "command_line",
    "docstrings",
    "equations",
    "gallery",
    "licences",
    "links",
    "playground",
    "public_names",
    "repository_links",
    "terms",
]
exclude_patterns = ["extensions", "exercises/tests"]

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
nb_execution_mode = "cache"  # a notebook runs when it changes
nb_execution_cache_path = str(FOLDER.parent / "build" / "notebooks")
nb_execution_timeout = 300
nb_output_stderr = "remove"  # Taichi's note that it runs in a notebook
nb_execution_raise_on_error = True

smartquotes = False  # "--" is the begin of a flag
default_role = "code"  # `name` in a docstring is code
autodoc_member_order = "bysource"
autodoc_typehints = "none"
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = "verletlab"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "static/logo.svg"  # from logo.py
html_search_scorer = str(FOLDER / "static" / "scorer.js")
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": f"verletlab {version}"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
}
html_sidebars = {"*": [], "exercises/**": [], "source/**": []}  # pages without others below them
html_context = {"default_mode": "auto"}  # dark where the system is
