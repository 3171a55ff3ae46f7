"""Asking the model that helps: any target, answers kept in the response store, sync from wherever it is called."""

from __future__ import annotations

import contextvars
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.assisting.marks import RejectedAnswerError
from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzWarning, TargetError, UsageError
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.model import Request, Response
from pytest_promptfuzz.targets.resolve import resolve
from pytest_promptfuzz.wire.aside import helper_gate, helper_store
from pytest_promptfuzz.wire.ask import ask
from pytest_promptfuzz.wire.intercept import intercepting
from pytest_promptfuzz.wire.store import ResponseStore
from pytest_promptfuzz.wire.watch import Watch, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_promptfuzz.assisting.instructions import Question
    from pytest_promptfuzz.targets.model import Target
    from pytest_promptfuzz.wire.answers import AnswerStore

FOLDER = ".promptfuzz"
_ROOTS = (FOLDER, "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", ".git")
_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete"})
_MENDS = {
    "authentication": "Check the API key and what it may do.",
    "billing": "Check the account's credit and its limits of spending.",
    "refused": "Check the base URL, the model and what the account may do.",
    "not-found": "Check the model name and the base URL.",
    "bad-request": "Check the model's parameters.",
}


def project_folder() -> Path:
    """Where answers are kept by default: ``.promptfuzz`` in the project that the working directory belongs to."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if any((folder / name).exists() for name in _ROOTS):
            return folder / FOLDER
    return here / FOLDER


class Helper:
    """A model that helps to make mutations.

    Args:
        target: A target's name, a ``Target``, or a function that takes the question as text and returns text.
        store: Where answers are kept; a folder or a store. ``None`` is the run's, or ``.promptfuzz`` in the project's
            folder.
        parameters: More for the request body, e.g. ``{"temperature": 1}``; for models only.
        where: What it helps, for messages.

    Raises:
        UsageError: A target, store or parameters of the wrong kind.
        ConfigurationError: No target, or one that cannot be loaded.
    """

    def __init__(
        self,
        target: str | Target | Callable[..., Any],
        *,
        store: AnswerStore | str | Path | None,
        parameters: Mapping[str, Any] | None,
        where: str,
    ) -> None:
        self._named = isinstance(target, str)
        self._target = resolve(target)
        self._parameters = dict(parameters or {})
        if self._parameters and isinstance(self._target, CallableTarget):
            raise UsageError(f"{where}: parameters= are for models; a function takes none.")
        self._opened: list[ResponseStore] = []
        if isinstance(store, str | Path):
            store = self._open(Path(store))
        elif store is not None and not callable(getattr(store, "get", None)):
            raise UsageError(f"{where}: store= is {type(store).__name__}; give a folder or a response store.")
        self._store = store

    @property
    def name(self) -> str:
        """The target's name."""
        return self._target.name

    def watch(self, sample: int) -> Watch:
        """What one series of questions is asked under: the same question again is another draw.

        Args:
            sample: Which series; each has draws of its own.
        """
        return Watch(store=self._kept_in(), repeat=sample, gate=helper_gate.get())

    def ask(self, question: Question, watch: Watch) -> str:
        """The answer to a question, from the store where it is.

        The caller waits; where an event loop is running, the call is made in a thread of its own and the loop waits.

        Raises:
            ConfigurationError: The target lacks a key, an extra or a model, or refuses the key.
            TargetError: The call failed.
            RejectedAnswerError: The answer was cut off, or is no text.
        """
        try:
            answer = _apart(lambda: self._answer(question, watch))
        except TargetError as error:
            mend = _MENDS.get(error.kind)
            if mend is None:
                raise
            raise ConfigurationError(f"{error} {mend}") from error
        finally:
            self._tidy(watch)
        if isinstance(answer, Response):
            if answer.finish_reason in _CUT_OFF:
                raise RejectedAnswerError("it was cut off at its token limit")
            return answer.text
        if not isinstance(answer, str):
            raise RejectedAnswerError(f"it is {type(answer).__name__}, not text")
        return answer

    def _answer(self, question: Question, watch: Watch) -> Any:
        target = self._target
        if not isinstance(target, CallableTarget):
            messages = (
                {"role": "system", "content": question.orders},
                {"role": "user", "content": question.material},
            )
            return ask(target, Request(messages, self._parameters), watch)
        # The function's own calls of a model are seen and kept as any others; what it computes itself is not kept.
        text = f"{question.orders}\n\n{question.material}"
        with intercepting(), watching(watch):
            if target.is_async:
                import asyncio

                return asyncio.run(target.acall(text))
            return target.call(text)

    def _kept_in(self) -> AnswerStore:
        known = self._store if self._store is not None else helper_store.get()
        if known is not None:
            return known
        folder = project_folder()
        return next((each for each in self._opened if each.directory == folder), None) or self._open(folder)

    def _open(self, folder: Path) -> ResponseStore:
        store = ResponseStore(folder, warn=_warn)
        self._opened.append(store)
        return store

    def _tidy(self, watch: Watch) -> None:
        """Leave nothing open between two questions: nobody tells an operator that it was the last."""
        for note in watch.notes:
            _warn(note)
        watch.notes.clear()
        for store in self._opened:
            store.close()
        close = getattr(self._target, "close", None)
        if self._named and close is not None:
            close()


def _apart(call: Callable[[], Any]) -> Any:
    """What a call returns; made in another thread if an event loop runs in this one.

    A function may run a loop of its own, which no thread with a running loop allows.
    """
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return call()
    from concurrent.futures import ThreadPoolExecutor

    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="promptfuzz-helper") as pool:
        return pool.submit(context.run, call).result()


def _warn(note: str) -> None:
    warnings.warn(note, PromptfuzzWarning, stacklevel=3)
