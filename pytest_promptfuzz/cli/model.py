"""``promptfuzz model``: models of meaning are shown, fetched, exported, installed and checked."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.judging.installation import Offer
    from pytest_promptfuzz.judging.meaning import KindErrors
    from pytest_promptfuzz.judging.models import MeaningModel
    from pytest_promptfuzz.reporting.terminal.styled_text import Line


_NAMES = ("minilm", "entailment")


def add_model_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "model",
        help="show, export, install or check the models that compare answers by meaning",
        description=(
            "promptfuzz model: show, export, install or check the models that compare answers by meaning."
        ),
        allow_abbrev=False,
    )
    add_output_options(parser)
    parser.set_defaults(execute=execute_model, action="show")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    export = actions.add_parser(
        "export",
        help="write the model as ONNX, which runs without torch",
        description="promptfuzz model export: write the model as ONNX, which runs without torch. Exporting needs "
        "torch.",
        allow_abbrev=False,
    )
    export.add_argument("--to", metavar="FOLDER", required=True, type=Path, help="an empty or new folder")
    export.add_argument(
        "--from",
        dest="source",
        metavar="FOLDER",
        help="the sentence-transformers model (by default the all-MiniLM-L6-v2 of this machine)",
    )
    install = actions.add_parser(
        "install",
        help="put a model where every test run finds it",
        description="promptfuzz model install: check a model, and put it where every run finds it. `minilm` and "
        "`entailment` are downloaded from the Hugging Face hub (or HF_ENDPOINT), after size, source and licence are "
        "shown; a folder is copied.",
        epilog="exit codes: 0: installed, 1: not downloaded, 2: wrong usage or environment",
        allow_abbrev=False,
    )
    install.add_argument(
        "source",
        metavar="minilm|entailment|FOLDER|FILE",
        nargs="?",
        help="model to download (minilm, entailment), or a folder, .zip or .tar with all-MiniLM-L6-v2 in ONNX; without "
        "it, the downloaded one. A folder named minilm: ./minilm",
    )
    install.add_argument(
        "--entailment",
        metavar="FOLDER",
        type=Path,
        help="folder of an entailment model (ONNX or sentence-transformers)",
    )
    install.add_argument("--yes", action="store_true", help="download without asking")
    check = actions.add_parser(
        "check",
        help="measure the entailment model on pairs of claims",
        description="promptfuzz model check: ask the entailment model about known pairs of claims, and show how often "
        "it is wrong, by kind.",
        allow_abbrev=False,
    )
    check.add_argument(
        "source", metavar="FOLDER", nargs="?", help="the model (by default the one that a run uses)"
    )
    for action in (export, install, check):
        add_output_options(action)
        action.set_defaults(execute=execute_model)


def execute_model(options: argparse.Namespace, output: Output) -> int:
    """Do what is asked; returns the exit code.

    Raises:
        UsageError: A folder or file is not what is wanted.
        ConfigurationError: A library or the model is missing, the model is not what it says, or it cannot be fetched.
    """
    actions = {"export": _export, "install": _install, "check": _check}
    return actions.get(options.action, _show)(options, output)


def _export(options: argparse.Namespace, output: Output) -> int:
    from pytest_promptfuzz.judging.encoders import MODEL, SentenceTransformerEmbedder
    from pytest_promptfuzz.judging.installation import export
    from pytest_promptfuzz.judging.models import MINILM, trained_minilm

    name = export(SentenceTransformerEmbedder(options.source or str(trained_minilm() or MODEL)), options.to)
    if options.json:
        output.json({"folder": str(options.to), "model": name})
    else:
        use = "run: promptfuzz model install" if name == MINILM else "set promptfuzz_model to"
        output.say(
            safe(f"Exported {name} to {options.to}. To use it on this or another machine, {use} FOLDER")
        )
    return 0


def _install(options: argparse.Namespace, output: Output) -> int:
    from pytest_promptfuzz.judging.installation import install, install_entailment

    errors: list[KindErrors] = []
    if options.entailment is not None:
        if options.source is not None:
            raise UsageError(f"give {options.source} or --entailment {options.entailment}, one at a time.")
        folder, errors = install_entailment(options.entailment)
    elif options.source in _NAMES:
        installed = _from_hub(options, output)
        if installed is None:
            return 1
        folder, errors = installed
    else:
        folder = install(None if options.source is None else Path(options.source))
    if options.json:
        output.json({"folder": str(folder), **({"errors": _as_json(errors)} if errors else {})})
        return 0
    output.say(safe(f"Installed in {folder}."))
    if errors:
        _tell(errors, output)
    return 0


def _from_hub(options: argparse.Namespace, output: Output) -> tuple[Path, list[KindErrors]] | None:
    """Show what would be fetched, ask, and fetch it; ``None`` where the answer is no."""
    from pytest_promptfuzz.judging.installation import install_from_hub, look_up
    from pytest_promptfuzz.judging.models import ONNX_EXTRA, has_onnx

    name: str = options.source
    if not has_onnx():
        raise ConfigurationError(f"this model needs onnxruntime and tokenizers: {ONNX_EXTRA}")
    asks = not options.yes
    if asks and (options.json or not sys.stdin.isatty()):
        raise UsageError(
            f"{name}: the download needs a terminal to ask you. Add --yes to download without asking."
        )
    offer = look_up(name)
    if not options.json:
        output.say(safe(_offered(offer)))
        if Path(name).exists():
            output.say(f"To install the folder {name} of this directory instead, write ./{name}.")
    if asks and not _agrees():
        output.say("Nothing was downloaded.")
        return None
    shows = sys.stderr.isatty() and not options.json
    done = install_from_hub(offer, name, _DownloadProgress(offer.size) if shows else lambda _: None)
    if shows:
        sys.stderr.write("\n")
    return done


def _offered(offer: Offer) -> str:
    from pytest_promptfuzz.judging.models import model_folder

    files = ", ".join(each.path for each in offer.files)
    return (
        f"{offer.model.repository}: {offer.size / 1e6:,.1f} MB ({files}) from {offer.source}, revision "
        f"{offer.revision[:12]}. Licence, as its page says: {offer.license or 'none is named'}. "
        f"It is installed into {model_folder()}."
    )


def _agrees() -> bool:
    try:
        return input("Download it? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


class _DownloadProgress:
    """Shows how much of a download has come, on one line of a terminal."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._shown = -1

    def __call__(self, came: int) -> None:
        percent = 100 * came // self._total
        if percent != self._shown:
            self._shown = percent
            sys.stderr.write(f"\r{percent:3d} % of {self._total / 1e6:,.1f} MB")
            sys.stderr.flush()


def _check(options: argparse.Namespace, output: Output) -> int:
    from pytest_promptfuzz.judging.encoders import entailment_of
    from pytest_promptfuzz.judging.meaning import check_entailment
    from pytest_promptfuzz.judging.models import GET_ENTAILMENT, find_entailment

    found = find_entailment(options.source)
    entailment = entailment_of(found)
    if entailment is None:
        mend = found.mend.replace(" (promptfuzz_entailment)", "") if options.source else found.mend
        raise ConfigurationError(
            f"there is no entailment model to check: {mend or f'none is installed ({GET_ENTAILMENT})'}"
        )
    errors = check_entailment(entailment)
    if options.json:
        output.json({"model": found.name, "backend": found.backend, "errors": _as_json(errors)})
        return 0
    output.say(safe(f"{found.label}, in {found.folder}, on {errors[-1].pairs} pairs of claims:"))
    _tell(errors, output)
    return 0


def _as_json(errors: list[KindErrors]) -> list[dict[str, Any]]:

    return [
        {
            **asdict(each),
            "wrong_interval": _interval(each.wrong_directions, 2 * each.pairs),
            "passed_interval": _interval(each.passed, each.different),
            "condemned_interval": _interval(each.condemned, each.same),
        }
        for each in errors
    ]


def _tell(errors: list[KindErrors], output: Output) -> None:
    """The errors as a table, and what they mean."""
    head = ("kind", "labels wrong", "different, passed", "same, condemned", "left undecided")
    rows = [
        (
            each.kind,
            f"{each.wrong_directions} of {2 * each.pairs}",
            f"{each.passed} of {each.different}",
            f"{each.condemned} of {each.same}",
            f"{each.undecided} of {each.pairs}",
        )
        for each in errors
    ]
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines: list[Line] = []
    for number, row in enumerate((head, *rows)):
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(
            [
                (first, "label" if number else "dim"),
                ("  " + "  ".join(others).rstrip(), "plain" if number else "dim"),
            ]
        )
    output.lines(lines)
    every = errors[-1]
    output.say(
        f"Of the claims that say different things, {_share(every.passed, every.different)} are called equivalent. Of "
        f"those that say the same, {_share(every.condemned, every.same)} are called a deviation. "
        f"{_share(every.wrong_directions, 2 * every.pairs)} of the labels are wrong."
    )


def _share(count: int, total: int) -> str:
    """A share with its interval.

    >>> _share(2, 40)
    '5 % (95 %: 1 to 17 %)'
    """
    found = _interval(count, total)
    if found is None:
        return "none"
    share, low, high = (f"{100 * each:.0f}" for each in (count / total, *found))
    return f"{share} % (95 %: {low} to {high} %)"


def _interval(count: int, total: int) -> tuple[float, float] | None:
    from pytest_promptfuzz.stats.intervals import share_interval

    if not total:
        return None
    found = share_interval(count / total, total)
    return found.low, found.high


def _show(options: argparse.Namespace, output: Output) -> int:
    from pytest_promptfuzz.judging.models import (
        GET_ENTAILMENT,
        find_entailment,
        find_model,
        has_onnx,
        has_torch,
        model_folder,
    )

    found, entailment = find_model(), find_entailment()
    if options.json:
        output.json(
            {
                **_found(found),
                "entailment": _found(entailment),
                "onnxruntime": has_onnx(),
                "sentence-transformers": has_torch(),
                "installs_into": str(model_folder()),
            }
        )
        return 0
    if found.folder is not None:
        output.say(safe(f"Answers are compared by meaning with {found.label}, in {found.folder}."))
    else:
        output.say(safe(f"Answers are not compared by meaning: {found.mend}."))
    if entailment.folder is not None:
        output.say(safe(f"Entailment is checked with {entailment.label}, in {entailment.folder}."))
    else:
        why = entailment.mend or f"no model is installed. Install one: {GET_ENTAILMENT}"
        output.say(safe(f"Entailment is not checked: {why}."))
    if found.folder is None or entailment.folder is None:
        output.say(safe(f"Models are installed into {model_folder()}."))
    return 0


def _found(model: MeaningModel) -> dict[str, str | None]:
    return {
        "model": model.name or None,
        "backend": model.backend,
        "folder": None if model.folder is None else str(model.folder),
        "missing": model.mend or None,
    }
