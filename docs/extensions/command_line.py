"""The directive `commands`: a section for each command of verletlab, from the parser of its flags."""

import argparse

from sphinx.util.docutils import SphinxDirective

from scenes.cli.main import parser


def usage_of(name, command):
    """The line that shows how a command is called."""
    words = command.format_usage().partition("usage: ")[2]
    return " ".join(words.split()) if command.usage else f"verletlab {name}"


def flag_of(action):
    """A flag with the name of its value, or an argument."""
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    if action.choices and not action.metavar:
        value = " " + "|".join(map(str, action.choices))
    return ", ".join(action.option_strings) + value if action.option_strings else action.metavar or action.dest


def help_of(command, action):
    """The help of a flag, with its default."""
    return (action.help or "") % {**vars(action), "prog": command.prog}


def escaped(text):
    """A text in which no character has a meaning in Markdown."""
    for character in "\\*_<|[`":
        text = text.replace(character, "\\" + character)
    return text


def section(name, command, summary):
    """Markdown for a command."""
    actions = [action for action in command._actions if not isinstance(action, argparse._HelpAction)]
    items = [f"`{flag_of(action)}`\n: {escaped(help_of(command, action))}\n" for action in actions]
    about = f"{escaped(command.description)}\n" if command.description else ""
    usage = f"```text\n{usage_of(name, command)}\n```\n"
    return "\n".join([f"## {name}\n", f"{escaped(summary)}.\n", about, usage, *items])


class Commands(SphinxDirective):
    """Sections of all commands."""

    def run(self):
        """Nodes of the sections."""
        found = parser()
        (subparsers,) = (each for each in found._actions if isinstance(each, argparse._SubParsersAction))
        summaries = {each.dest: each.help for each in subparsers._choices_actions}
        text = "\n".join(section(name, found.commands[name], summaries[name].capitalize()) for name in found.commands)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app):
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
