"""Batches through the real SDKs: resumed, cut short, failed in part, cancelled, refused."""

from __future__ import annotations

from dataclasses import replace

import httpx2
import pytest

from pytest_promptfuzz.errors import ConfigurationError, StoreError
from pytest_promptfuzz.running.batches import (
    AnthropicBatches,
    BatchCall,
    OpenAIBatches,
    Prefill,
    Underway,
    alone,
)
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.storage.redaction import DEFAULT
from pytest_promptfuzz.targets.resolution import as_request, resolve

TEXTS = ("I was charged twice.", "The app crashes.", "Do you sell hats?")


@pytest.fixture
def start(models, tmp_path):
    """Runs one prefill for both providers; the store is kept from one to the next."""
    store = MemoryStore()
    targets = [resolve("openai:gpt-5-mini"), resolve("anthropic:claude-sonnet-5")]
    wanted = [
        BatchCall(
            target.prepare(as_request(f"Classify as GOOD or BAD: {text}")), test=f"{target.name} {text}"
        )
        for target in targets
        for text in TEXTS
    ]

    def run(*, submit=True, wait=True, cancel=False, more=()):
        missing = [each for each in (*wanted, *more) if not each.is_stored(store, DEFAULT)]
        work = Prefill(missing, tmp_path, store, DEFAULT, lambda _: None)
        return work.run(submit=submit, wait=wait, cancel=cancel, poll=0.01)

    return run


def test_each_answer_is_stored_for_the_request_it_answers(models, start):
    outcome = start()
    assert (outcome.submitted, outcome.stored, outcome.failed, outcome.waiting) == (6, 6, [], 0)
    assert models.batches.submitted == [3, 3]
    assert start().submitted == 0
    assert models.calls == 0


def test_what_is_under_way_is_resumed_and_never_submitted_twice(models, start, tmp_path):
    models.batches.polls = 10**6
    assert start(wait=False).waiting == 6
    assert start(wait=False).submitted == 0
    text = (tmp_path / "prefill.json").read_text()
    assert "Classify" not in text
    assert "none-needed-here" not in text
    models.batches.polls = 0
    outcome = start(submit=False)
    assert (outcome.stored, outcome.waiting) == (6, 0)
    assert Underway(tmp_path).batches == []
    assert models.batches.submitted == [3, 3]


def test_batches_whose_submission_was_cut_short_are_found(models, start, tmp_path):
    models.batches.polls = 10**6
    start(wait=False)
    underway = Underway(tmp_path)
    for each in underway.batches:
        each.id = ""  # as it stands when the process ends before the provider has answered
    underway.save()
    models.batches.polls = 0
    assert start().stored == 6
    assert models.batches.submitted == [3, 3]


def test_a_batch_that_never_arrived_is_submitted(models, start, tmp_path):
    models.batches.polls = 10**6
    start(wait=False)
    underway = Underway(tmp_path)
    models.batches.forget()
    for each in underway.batches:
        each.id = ""
    underway.save()
    models.batches.polls = 0
    assert start().stored == 6
    assert models.batches.submitted == [3, 3, 3, 3]


@pytest.mark.parametrize(("what", "said"), [("fails", "The model failed."), ("expires", "expired")])
def test_partial_failures_are_told(models, start, what, said):
    setattr(models.batches, what, "hats")
    outcome = start()
    assert outcome.stored == 4
    assert [test for test, _ in outcome.failed] == [
        "openai:gpt-5-mini Do you sell hats?",
        "anthropic:claude-sonnet-5 Do you sell hats?",
    ]
    assert all(said in why for _, why in outcome.failed)
    setattr(models.batches, what, "")
    assert start().stored == 2


def test_a_batch_that_is_refused_as_a_whole_is_why_none_of_its_requests_has_an_answer(start, monkeypatch):
    monkeypatch.setattr(OpenAIBatches, "group", lambda *_: ("/v1/chat/completions", "any model"))
    other = resolve("openai:gpt-5").prepare(as_request("Classify as GOOD or BAD: fine"))
    outcome = start(more=[BatchCall(other, test="test_other")])
    assert outcome.stored == 0
    tests = [test for test, _ in outcome.failed]
    assert (len(tests), tests[-1]) == (7, "test_other")
    assert {why for _, why in outcome.failed} == {"One model and one endpoint a batch. (mismatched_model)"}


def test_cancelled_batches_keep_what_was_answered(models, start):
    models.batches.polls = 10**6
    start(wait=False)
    outcome = start(cancel=True)
    assert (outcome.submitted, outcome.stored, len(outcome.failed)) == (0, 2, 4)
    assert models.batches.submitted == [3, 3]


def test_other_hosts_and_streams_are_left(models, start):
    elsewhere = resolve(f"compatible:llama@{models.url}/other/v1").prepare(as_request("Hello"))
    whole = resolve("openai:gpt-5-mini").prepare(as_request("Hello"))
    streamed = replace(whole, body={**whole.body, "stream": True})
    outcome = start(more=[BatchCall(elsewhere, test="test_a"), BatchCall(streamed, test="test_b")])
    assert outcome.live == {
        (elsewhere.url, "test_a", "no batch takes what is asked there"): 1,
        (streamed.url, "test_b", "a stream"): 1,
    }
    assert outcome.stored == 6


def test_a_batch_for_each_model(models, start):
    other = resolve("openai:gpt-5").prepare(as_request("Classify as GOOD or BAD: fine"))
    assert start(more=[BatchCall(other)]).stored == 7
    assert sorted(models.batches.submitted) == [1, 3, 3]


def test_two_at_once_and_a_file_of_another_version_are_refused(start, tmp_path):
    with alone(tmp_path), pytest.raises(StoreError, match="Another prefill is at work"):
        start()
    (tmp_path / "prefill.json").write_text('{"format": 9, "batches": []}')
    with pytest.raises(StoreError, match="its format is 9"):
        start()


def test_a_missing_key_submits_nothing(models, start, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        start()
    assert models.batches.submitted == []


@pytest.mark.parametrize("kind", [OpenAIBatches, AnthropicBatches])
def test_batches_are_split_by_number_and_by_size(models, start, monkeypatch, kind):
    monkeypatch.setattr(kind, "most", 2)
    assert start().stored == 6
    assert sorted(models.batches.submitted) == [1, 2, 3]


@pytest.mark.parametrize(
    ("target", "path"), [("openai:gpt-5-mini", "/v1/files"), ("anthropic:claude-sonnet-5", "")]
)
def test_no_batch_is_larger_than_the_provider_takes(models, start, monkeypatch, target, path):
    kind = OpenAIBatches if path else AnthropicBatches
    long = [resolve(target).prepare(as_request(f"Classify: {'schön ' * 400}{number}")) for number in range(5)]
    sizes = [kind().size(kind().group(each), "x" * 52, each) for each in long]
    monkeypatch.setattr(kind, "most_bytes", 2 * max(sizes) + 600)
    models.batches.most_bytes = 2 * max(sizes) + 600
    outcome = start(more=[BatchCall(each) for each in long])
    assert (outcome.stored, outcome.failed) == (11, [])
    assert len(models.batches.submitted) == 4


def test_a_request_that_no_batch_takes_is_told_and_asked_live(models, start, monkeypatch):
    monkeypatch.setattr(OpenAIBatches, "most_bytes", 1000)
    large = resolve("openai:gpt-5-mini").prepare(as_request("Classify: " + "long " * 400))
    outcome = start(more=[BatchCall(large, test="test_large")])
    assert outcome.stored == 6
    assert [test for test, _ in outcome.failed] == ["test_large"]
    assert "more than a batch takes" in outcome.failed[0][1]


def test_an_expired_batch_is_asked_again_by_the_next(models, start):
    models.batches.expires = "Classify"
    outcome = start()
    assert (outcome.stored, len(outcome.failed), outcome.waiting) == (0, 6, 0)
    assert start(submit=False).submitted == 0
    models.batches.expires = ""
    assert start().stored == 6
    assert models.batches.submitted == [3, 3, 3, 3]


def test_the_second_of_two_identical_calls_has_an_answer_of_its_own(models, start):
    target = resolve("openai:gpt-5-mini")
    wire = target.prepare(as_request("Classify as GOOD or BAD: twice"))
    outcome = start(more=[BatchCall(wire), BatchCall(wire, nth=1)])
    assert outcome.stored == 8
    assert start(more=[BatchCall(wire), BatchCall(wire, nth=1)]).submitted == 0


def test_an_older_batch_of_the_same_size_is_not_taken_for_ours(models, start, tmp_path):
    assert start().stored == 6
    models.batches.polls = 10**6
    other = resolve("anthropic:claude-sonnet-5")
    more = [BatchCall(other.prepare(as_request(f"Classify: {number}"))) for number in range(3)]
    start(wait=False, more=more)
    underway = Underway(tmp_path)
    (batch,) = underway.batches
    batch.id = ""
    underway.save()
    models.batches.lose_last()
    models.batches.polls = 0
    outcome = start(more=more)
    assert (outcome.submitted, outcome.stored) == (3, 3)


def test_what_cannot_be_written_down_is_not_submitted(models, start, tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match=r"No space left on device.*no batch is submitted"):
        start()
    assert models.batches.submitted == []
    monkeypatch.undo()
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"), alone(tmp_path / "file" / "folder"):
        pass


def test_a_refusal_is_told_and_not_kept():
    wanted = BatchCall(resolve("openai:gpt-5-mini").prepare(as_request("Hello")))
    message = {"role": "assistant", "content": None, "refusal": "No."}
    body = {"model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    store = MemoryStore()
    assert wanted.keep(body, store, DEFAULT) == "the model refused, which is not kept"
    assert not wanted.is_stored(store, DEFAULT)


@pytest.mark.parametrize("path", ["/v1/batches", "/v1/messages/batches"])
@pytest.mark.parametrize("body", [b"{", b"[]", b'{"requests": [{}], "endpoint": "/v1/responses"}'])
def test_the_server_says_what_it_cannot_read(models, path, body):
    answer = httpx2.post(models.url + path, content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert models.batches.submitted == []
