"""The description for a package index: README.md without what an index cannot show.

Pictures and links within the repository have no address there. All else is in pyproject.toml.
"""

import re
from pathlib import Path

from setuptools import setup


def without_repository(text):
    """A Markdown text without paragraphs that show files of media/, and with other links within it as plain text."""
    kept = [block for block in text.split("\n\n") if "](media/" not in block]
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)\s]*\)", r"\1", "\n\n".join(kept))


readme = (Path(__file__).parent / "README.md").read_text("utf-8")
setup(long_description=without_repository(readme), long_description_content_type="text/markdown")
