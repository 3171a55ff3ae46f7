import openai
import pytest
from echo import Echo
from offered import OfferedJudge
from pytest_promptfuzz.assisting import paraphrase
from pytest_promptfuzz.embedding.embedder import Embedder
from pytest_promptfuzz.embedding.entailment import Entailment, Verdict
from pytest_promptfuzz.mutations.lexicon.lexicon import TableLexicon
from pytest_promptfuzz.testing import faults
from pytest_promptfuzz.testing.server import ModelServer
from pytest_promptfuzz.wire.answers import AnswerStore, MemoryStore, StoredAnswer
from shouting import shouting
from user_shelf import Shelf

from pytest_promptfuzz import (
    ModelJudge,
    Response,
    Session,
    SimilarityTier,
    Target,
    Usage,
    evaluate,
    mutate,
    robust,
)
from pytest_promptfuzz.mutations.operators.synonyms import synonyms_from

PARCEL = "Name the thing that the customer of jane@example.com asks for. Text: My parcel is lost."
PLAN = {"mutations": 1, "operators": ["sign-off"]}


def changed(prompt):
    return not str(prompt).endswith("lost.")


@robust(PARCEL, mutations=3, operators=["shouting"])
def test_operator_and_target(prompt, llm):
    assert llm(prompt).text == "PARCEL"


@robust(PARCEL, mutations=2, operators=[shouting], target=Echo("lower"))
def test_operator_and_target_as_objects(prompt, llm):
    return llm(prompt)


@pytest.mark.parametrize(
    ("settings", "answer", "outcome"),
    [
        ({"tiers": ["seasons"]}, "Fall is best for such a trip to them.", "equivalent"),
        ({"tiers": ["offered-tier"]}, "It would be fine with any of us, surely.", "equivalent"),
        ({"guards": ["advice"]}, "We recommend autumn for such a trip.", "deviation"),
        ({"guards": ["offered-guard"]}, "You rude person, go away from here.", "deviation"),
        (
            {"tiers": ["offered-tier"], "guards": ["offered-guard"]},
            "A loud and fine idea, that one.",
            "minor",
        ),
        ({"judge": "length"}, "You could travel there in September.", "equivalent"),
        ({"judge": "offered-judge", "quality": ["conciseness"]}, "Let a judge say when to go.", "equivalent"),
        ({"judge": OfferedJudge()}, "Let a judge say when to go.", "equivalent"),
    ],
)
def test_parts_that_compare(promptfuzz, settings, answer, outcome):
    def application(prompt):
        return answer if changed(prompt) else "I would go there in autumn, I think."

    result = promptfuzz.evaluate(PARCEL, application, **PLAN, **settings)
    assert [trial.outcome for trial in result.trials] == [outcome]


def test_protocols(tmp_path):
    from offered import OfferedTier

    assert isinstance(Echo("upper"), Target)
    assert isinstance(OfferedTier(), SimilarityTier)
    assert isinstance(Axes(), Embedder)
    assert isinstance(Sure(), Entailment)
    assert hasattr(AnswerStore, "get")


def test_store(tmp_path):
    shelf = Shelf(f"shelf://{tmp_path}/answers")
    answer = StoredAnswer("https://example.org/v1/responses", {}, 200, "application/json", "{}", created=0.0)
    shelf.put("0123-0-0", answer)
    assert (shelf.get("0123-0-0"), shelf.stats().entries) == (answer, 1)
    for store in (Shelf(f"shelf://{tmp_path}/other"), MemoryStore()):
        session = Session(store=store)
        asked = [
            evaluate(PARCEL, Echo("upper"), session=session, mutations=2, controls=0).calls for _ in range(2)
        ]
        assert asked == [3, 0]


class Axes:
    name = "axes-1"

    def embed(self, texts):
        return [[1.0, 0.0] for _ in texts]


class Sure:
    name = stamp = "sure-1"

    def scores(self, pairs):
        return [Verdict(0.98, 0.01, 0.01) for _ in pairs]


@pytest.mark.parametrize("settings", [{"embedder": Axes()}, {"entailment": Sure()}])
def test_what_knows_meaning(settings):
    def application(prompt):
        words = "We bring the parcels of the town on each Monday, well before the shops have opened."
        other = "Every start of the week sees our people deliver what was ordered, early in the day."
        return other if changed(prompt) else words

    result = evaluate(
        PARCEL,
        application,
        session=Session(**settings),
        mutations=1,
        operators=[shouting],
        threshold=0.0,
        task="generation",
        controls=0,
    )
    assert result.verdict == "pass"


def test_lexicon():
    words = TableLexicon("support", "1", "en", {("synonym", "noun"): {"parcel": ("package",)}})
    (mutation,) = mutate("Tell the customer where the parcel is.", 1, operators=synonyms_from(words))
    assert mutation.text == "Tell the customer where the package is."


def test_model_that_rewords():
    operator = paraphrase(lambda question: 'Does ⟦1:{ticket}⟧ deal with ⟦2:"billing or shipping"⟧?')
    (mutation,) = mutate('Is {ticket} about "billing or shipping"?', 1, operators=operator)
    assert mutation.text == 'Does {ticket} deal with "billing or shipping"?'


def test_model_that_judges():
    judge = ModelJudge(lambda question: '{"explanation": "the same", "rating": 3}')
    assert judge.name


class Steady:
    def answer(self, request, *, sample=0):
        return Response("billing", (), Usage(1, 1), "steady-1", "stop")


def test_model_of_the_server():
    with ModelServer(Steady()) as server, openai.OpenAI(base_url=server.openai_url, api_key="none") as client:
        server.fail(faults.RateLimited(retry_after=0.01), next=1)
        asked = [{"role": "user", "content": "Name the team."}]
        answer = client.chat.completions.create(model="any", messages=asked)
        assert (answer.choices[0].message.content, server.calls) == ("billing", 2)
