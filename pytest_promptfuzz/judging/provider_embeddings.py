"""`ProviderEmbedder`: a provider's embeddings, asked through the wire: stored, recorded, limited and paid for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError, NotRecordedError, TargetError
from pytest_promptfuzz.judging.meaning import CachedEmbedder
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.targets.sdk_clients import embeddings
from pytest_promptfuzz.wire.calls import NOT_RECORDED
from pytest_promptfuzz.wire.target_calls import ask
from pytest_promptfuzz.wire.watch import RunSettings, Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.judging.meaning import Vectors


_MOST = 512
"""Texts of one call: OpenAI takes 2048 of at most 300,000 tokens together."""

_MENDS = {
    "authentication": "",
    "billing": " Check the account's credit.",
    "refused": "",
    "not-found": "",
    "bad-request": " Check that the model makes embeddings, and how long a text it reads.",
}
"""What the provider refuses is a matter of configuration; an empty one says itself what to do."""


class ProviderEmbedder:
    """Asks a provider for the vectors of texts.

    ``under`` makes the one that a test uses; this one alone is for ``compare``.

    Args:
        name: ``openai:text-embedding-3-small``, or ``compatible:MODEL@URL``.
        vectors: Where vectors are kept beyond this process; ``None`` for nowhere.
        watch: What its calls are made under; by default one that stores nothing.

    Raises:
        UsageError: The name means no such provider.
    """

    def __init__(self, name: str, vectors: Vectors | None = None, watch: Watch | None = None) -> None:
        self._target = embeddings(name)
        self._vectors = vectors
        self._watch = watch if watch is not None else Watch(RunSettings(apart=True))
        self._failed: TargetError | None = None

    @property
    def name(self) -> str:
        """The model, and where it answers if that is not its provider."""
        return self._target.name

    @property
    def stamp(self) -> str:
        """Where it answers: a gateway may have another model under the same name."""
        return self._target.address().base

    def under(self, watch: Watch) -> CachedEmbedder:
        """The same for one test, whose calls are seen by ``watch``.

        A test that is recorded or replayed asks for all that it needs, whatever is known from elsewhere: its recording
        is to be complete.
        """
        alone = watch.settings.tape is not None and watch.settings.tape.alone
        kept = self._vectors if watch.settings.read and not alone else None
        return CachedEmbedder(ProviderEmbedder(self._target.name, watch=watch), kept)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in one call.

        Raises:
            TargetError: The call failed for a reason that says nothing about the texts. It is not made again.
            ConfigurationError: The key or the SDK is missing, or the provider refuses key, model or texts.
            NotRecordedError: Only the recording may be used, and does not hold the vectors.
        """
        if self._failed is not None:
            raise self._failed
        recorded = self._recorded()
        known = {text: recorded[shown] for text in texts if (shown := self._shown(text)) in recorded}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(missing), _MOST):
            batch = missing[start : start + _MOST]
            known |= zip(batch, self._ask(batch), strict=True)
        return [known[text] for text in texts]

    def _ask(self, texts: list[str]) -> list[list[float]]:
        # An empty text is refused by OpenAI; a space is not.
        request = Request(tuple({"role": "user", "content": text or " "} for text in texts))
        try:
            return _as_many(json.loads(ask(self._target, request, self._watch).text), texts)
        except TargetError as raised:
            # Below an SDK, a refusal of ours looks like one of the provider's.
            seen = self._watch.unrecovered()
            ours = bool(seen) and seen[-1].kind not in {*_MENDS, raised.kind}
            error = TargetError(seen[-1].message, kind=seen[-1].kind) if ours else raised
            said = f"comparing meaning by {self.name}: {str(error).removeprefix(self.name + ': ')}"
            if error.kind == NOT_RECORDED:
                raise NotRecordedError(said) from None
            if error.kind in _MENDS:
                raise ConfigurationError(f"{said}{_MENDS[error.kind]}") from None
            self._failed = TargetError(said, kind=error.kind, status=error.status)
            raise self._failed from None
        finally:
            self._target.close()

    def _recorded(self) -> dict[str, list[float]]:
        """The vectors in the recording of a test that is replayed, by text, whichever call they were asked for in."""
        tape = self._watch.settings.tape
        if tape is None or not tape.strict:
            return {}
        wire = self._target.prepare(Request(()))
        url = self._watch.settings.redaction.url(wire.url)
        found: dict[str, list[float]] = {}
        for answer in tape.answers():
            asked = answer.request.get("input")
            same = answer.url == url and answer.request.get("model") == self._target.model
            if same and isinstance(asked, list) and answer.status < 400:
                vectors = json.loads(self._target.parse(json.loads(answer.body)).text)
                found |= zip(asked, vectors, strict=False)
        return found

    def _shown(self, text: str) -> str:
        """A text as recordings have it."""
        return self._watch.settings.redaction.text(text or " ")


def _as_many(vectors: list[list[float]], texts: Sequence[str]) -> list[list[float]]:
    if len(vectors) != len(texts):
        raise TargetError(f"{len(vectors)} embeddings came for {len(texts)} texts", kind="malformed")
    return vectors
