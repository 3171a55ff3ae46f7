"""Writes what follows from the table of settings: the tables of reference.md and the typed keys of `robust`.

    python docs/settings_tables.py

The table is pytest_promptfuzz/evaluating/settings.py. What is written stands between two comments in each file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pytest_promptfuzz.evaluating.settings import (
    GROUPS,
    INI_ONLY,
    MARK_KEYS,
    OVERRIDABLE,
    PROJECT_TABLES,
    PYPROJECT_KEYS,
    SETTINGS,
    Place,
    SettingGroup,
    shown_default,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.evaluating.settings import Setting

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference.md"
MARKS = ROOT / "pytest_promptfuzz" / "plugin" / "marks.py"


def mark_table() -> str:
    """The keys of the mark, group by group."""
    rows = [
        _row(f"`{each.name}`", _default_of_mark(each), each.mark)
        for group in GROUPS
        for each in MARK_KEYS.values()
        if each.group == group
    ]
    first = (
        "| first argument | | the prompt that the `prompt` fixture gives: `str`, `Prompt` or chat messages |"
    )
    return "\n".join(["| key | default | |", "| --- | --- | --- |", first, *rows])


def places() -> str:
    """Which settings may stand where else."""
    both = [each.name for each in SETTINGS if Place.RUN | Place.MARK in each.places]
    return (
        f"A test's mark wins over all of them in what belongs to a test: {_listed(both)}.\n"
        f"{_listed(PYPROJECT_KEYS)} may also stand in `[tool.promptfuzz]` of pyproject.toml, beside the tables "
        f"{_listed(PROJECT_TABLES)}.\n"
        f"`--promptfuzz-override KEY=VALUE` takes {_listed(OVERRIDABLE)}, and wins over marks."
    )


def option_tables() -> str:
    """The settings of a run, a table for each group."""
    return "\n\n".join(
        f"### {title}\n\n| setting | default | |\n| --- | --- | --- |\n{rows}"
        for group, title in GROUPS.items()
        if (
            rows := "\n".join(_option_row(each) for each in SETTINGS if each.group == group and _of_run(each))
        )
    )


def key_classes() -> str:
    """The keys of ``robust`` as type checkers read them, a class for each group."""
    parts = []
    for group in get_args(SettingGroup):
        keys = [
            f"        {each.name}: {each.kind.typed}" for each in MARK_KEYS.values() if each.group == group
        ]
        if keys:
            title = GROUPS[group][0].lower() + GROUPS[group][1:]
            name = f"    class {group.title()}Keys(TypedDict, total=False):"
            parts.append("\n".join([name, f'        """Keys of ``@robust``: {title}."""', "", *keys]))
    return "\n\n".join(parts)


def _of_run(setting: Setting) -> bool:
    return Place.INI in setting.places


def _option_row(setting: Setting) -> str:
    name = f"`{setting.ini}` (ini only)" if setting.name in INI_ONLY else f"`{setting.option}`"
    text = setting.docs or setting.help.replace("%%", "%").replace("|", "\\|")
    return _row(name, setting.shown or _shown(setting.default), text)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _default_of_mark(setting: Setting) -> str:
    """A default as one writes it in a mark; of what a run has too, the run's."""
    if Place.RUN in setting.places:
        return ", ".join(filter(None, ["the run's", setting.shown or _written(setting.default)]))
    return setting.shown or _written(setting.default)


def _written(default: object) -> str:
    if isinstance(default, str | bool):
        return f"`{default!r}`".replace("'", '"')
    return _shown(default)


def _shown(default: object) -> str:
    text = shown_default(default)
    return f"`{text}`" if text.startswith(".") else text


def _listed(names: Iterable[str]) -> str:
    *first, last = (f"`{each}`" for each in names)
    return f"{', '.join(first)} and {last}"


BLOCKS = {
    (REFERENCE, "<!-- mark: settings_tables.py -->", "<!-- end of mark -->"): mark_table,
    (REFERENCE, "<!-- places: settings_tables.py -->", "<!-- end of places -->"): places,
    (REFERENCE, "<!-- options: settings_tables.py -->", "<!-- end of options -->"): option_tables,
    (
        MARKS,
        "    # Written by docs/settings_tables.py from evaluating/settings.py.",
        "    # End of what docs/settings_tables.py writes.",
    ): key_classes,
}
"""What is written, by the file and the two lines that it stands between."""


def written(file: Path, text: str) -> str:
    """A file with what is written into it of today."""
    for (of, begin, end), made in BLOCKS.items():
        if of == file:
            before, _, rest = text.partition(begin + "\n")
            _, _, after = rest.partition(end + "\n")
            text = f"{before}{begin}\n\n{made()}\n\n{end}\n{after}"
    return text


def main() -> None:
    """Write all of it."""
    for file in dict.fromkeys(of for of, _, _ in BLOCKS):
        text = file.read_text(encoding="utf-8")
        file.write_text(written(file, text), encoding="utf-8")


if __name__ == "__main__":
    main()
