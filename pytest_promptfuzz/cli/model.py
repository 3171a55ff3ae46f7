"""``promptfuzz model``: what compares meaning on this machine; export and install a model that needs no torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import add_output_options, plain
from pytest_promptfuzz.reporting.safe import safe

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.output import Output


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "model",
        help="show, export or install the model of meaning",
        description=plain(__doc__),
        allow_abbrev=False,
    )
    add_output_options(parser)
    parser.set_defaults(execute=execute, action="show")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    export = actions.add_parser(
        "export",
        help="write the model as ONNX, which runs without torch",
        description="Write the model as ONNX, which runs without torch. Exporting needs torch.",
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
        help="put an exported model where every test run finds it",
        description="Check an exported all-MiniLM-L6-v2 by embedding known texts, and put it where every run finds it.",
        allow_abbrev=False,
    )
    install.add_argument(
        "source",
        metavar="FOLDER|FILE",
        nargs="?",
        type=Path,
        help="what export wrote, or a .zip or .tar of it (by default the one of this machine)",
    )
    for action in (export, install):
        add_output_options(action)
        action.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Do what is asked; returns the exit code.

    Raises:
        UsageError: A folder or file is not what is wanted.
        ConfigurationError: A library or the model is missing, or the model is not what it says.
    """
    if options.action == "export":
        from pytest_promptfuzz.embedding.exporting import export
        from pytest_promptfuzz.embedding.models import MINILM, trained_minilm
        from pytest_promptfuzz.embedding.transformer import MODEL, SentenceTransformerEmbedder

        name = export(
            SentenceTransformerEmbedder(options.source or str(trained_minilm() or MODEL)), options.to
        )
        if options.json:
            output.json({"folder": str(options.to), "model": name})
        else:
            use = "run: promptfuzz model install" if name == MINILM else "set promptfuzz_model to"
            output.say(
                safe(f"Exported {name} to {options.to}. To use it on this or another machine, {use} FOLDER")
            )
        return 0
    if options.action == "install":
        from pytest_promptfuzz.embedding.installing import install

        folder = install(options.source)
        output.json({"folder": str(folder)}) if options.json else output.say(f"Installed in {folder}.")
        return 0
    return _show(options, output)


def _show(options: argparse.Namespace, output: Output) -> int:
    from pytest_promptfuzz.embedding.models import find_model, has_onnx, has_torch, model_folder

    found = find_model()
    if options.json:
        output.json(
            {
                "model": found.name or None,
                "backend": found.backend,
                "folder": None if found.folder is None else str(found.folder),
                "missing": found.mend or None,
                "onnxruntime": has_onnx(),
                "sentence-transformers": has_torch(),
                "installs_into": str(model_folder()),
            }
        )
    elif found.folder is not None:
        output.say(f"Meaning is compared by {found.label}, in {found.folder}.")
    else:
        output.say(f"Meaning is not compared: {found.mend}.")
        output.say(f"Models are installed into {model_folder()}.")
    return 0
