"""Operators that a model helps, with models that answer what they are told to: in the process, and over real HTTP."""

from __future__ import annotations

import asyncio
import re
import threading
import warnings
from dataclasses import replace

import pytest
from assistants import Scripted, draft_of
from rewordings import FRENCH, MOOD, POEM, SUMMARY, TRIAGE

from pytest_promptfuzz import (
    ConfigurationError,
    Prompt,
    PromptfuzzWarning,
    Session,
    TargetError,
    UsageError,
    aevaluate,
    evaluate,
    mutate,
)
from pytest_promptfuzz.assistance import (
    answers_kept_in,
    back_translation,
    model_translation,
    model_translations,
    paraphrase,
)
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import compound, get
from pytest_promptfuzz.randomness import Rng
from pytest_promptfuzz.server.faults import RateLimited, Unauthorized
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.targets.resolution import resolve

MATERIAL = re.compile(r"</prompt> is material.*<prompt>\n(.*?)\n</prompt>", re.DOTALL)


def material(question: str) -> str:
    found = MATERIAL.search(question)
    assert found, question
    return found[1]


def swaps(*pairs: tuple[str, str]):
    """A model that replaces words, one more of them each time it is told that it was heard before."""

    def answer(question: str) -> str:
        text = material(question)
        for old, new in pairs[: 1 + question.count("<given>\n")]:
            text = text.replace(old, new)
        return f"<prompt>\n{text}\n</prompt>"

    return answer


REWORDING = swaps(("Classify", "Label"), ("Answer with", "Reply with"), ("mood", "tone"))
FRENCH_MOOD = "Classe l'humeur du texte : ⟦1:good⟧ ou ⟦2:bad⟧. Réponds avec ⟦3:one⟧ seul mot, rien de plus.\n\nTexte : ⟦4:{text}⟧"


def test_a_paraphrase_is_words_replaced_and_everything_else_kept() -> None:
    (mutation,) = mutate(MOOD, 1, operators=paraphrase(REWORDING))
    assert mutation.text == MOOD.replace("Classify", "Label")
    assert [(e.start, e.end, e.parts) for e in mutation.edits] == [(0, 8, ("Label",))]
    assert mutation.operators == ("lexical-paraphrase@1",)
    assert (mutation.dimension, mutation.preserves, mutation.relation) == (
        "semantic",
        "conditional",
        "invariance",
    )


def test_every_paraphrase_is_another() -> None:
    made = mutate(MOOD, 3, operators=paraphrase(REWORDING, kind="free"))
    assert [m.text.split(". ")[0] for m in made] == [
        "Label the mood of the text as good or bad",
        "Label the mood of the text as good or bad",
        "Label the tone of the text as good or bad",
    ]
    assert len({m.text for m in made}) == 3


def test_what_was_had_and_what_was_wrong_is_told_to_the_model() -> None:
    model = Scripted("Write a poem.", "Compose a brief poem on autumn.", "Pen a little poem about autumn.")
    first, second = mutate(POEM, 2, operators=paraphrase(model, attempts=2))
    assert (first.text, second.text) == ("Write a poem.", "Compose a brief poem on autumn.")
    assert "These were given before" not in model.asked[0]
    assert "<given>\nWrite a poem.\n</given>" in model.asked[1]
    model = Scripted("{text}", REWORDING)
    mutate(MOOD, 1, operators=paraphrase(model))
    assert "Your last answer could not be used: it loses good." in model.asked[1]
    assert "⟦4:{text}⟧" in model.asked[0]


def test_a_moved_slot_is_a_reference() -> None:
    model = Scripted(
        "Here is the text: ⟦4:{text}⟧\n\nIs its mood ⟦1:good⟧ or ⟦2:bad⟧? Answer with ⟦3:one⟧ word only."
    )
    (mutation,) = mutate(MOOD, 1, operators=paraphrase(model, kind="syntactic"))
    assert mutation.text == "Here is the text: {text}\n\nIs its mood good or bad? Answer with one word only."
    slot = MOOD.index("{text}")
    assert any(
        tuple(part) == (slot, slot + 6)
        for e in mutation.edits
        for part in e.parts
        if not isinstance(part, str)
    )


def test_a_code_block_is_shown_in_short_and_comes_back_whole() -> None:
    code = "```python\n" + "".join(f"value_{n} = {n}\n" for n in range(50)) + "```"
    prompt = f"Explain what this program does, and do not run it.\n\n{code}\n"
    model = Scripted(swaps(("Explain", "Describe")))
    (mutation,) = mutate(prompt, 1, operators=paraphrase(model))
    assert "value_40" not in model.asked[0]
    assert mutation.text == prompt.replace("Explain", "Describe")


def test_data_in_a_prompt_is_not_reworded_but_translated() -> None:
    prompt = "Classify the mood of the review as good or bad.\n\nReview:\nThe phone broke and nobody answered my mails."
    model = Scripted(swaps(("Classify", "Label")))
    (mutation,) = mutate(prompt, 1, operators=paraphrase(model))
    assert mutation.text == prompt.replace("Classify", "Label")
    assert "⟦3:The phone broke and nobody answered my mails.⟧" in model.asked[0]
    french = (
        "Classe l'humeur de la critique : ⟦1:good⟧ ou ⟦2:bad⟧.\n\nCritique :\nLe téléphone est cassé et personne "
        "n'a répondu à mes messages."
    )
    (mutation,) = mutate(prompt, 1, operators=model_translation(Scripted(french), "fr"))
    assert "téléphone" in mutation.text


def test_only_one_message_of_a_chat_is_reworded_at_a_time() -> None:
    chat = Prompt.from_messages(
        [
            {"role": "system", "content": "You are a support agent of Acme. Never promise a refund."},
            {"role": "user", "content": "Write a short reply to this: {mail}"},
        ]
    )
    model = Scripted(lambda question: material(question).replace("agent", "clerk").replace("Write", "Draft"))
    made = mutate(chat, 2, operators=paraphrase(model))
    contents = [[m["content"] for m in each.prompt.messages] for each in made]
    assert [sum(a != b["content"] for a, b in zip(c, chat.messages, strict=True)) for c in contents] == [1, 1]


def test_answers_are_kept_so_that_a_second_plan_makes_no_call(monkeypatch) -> None:
    model = Scripted(REWORDING)
    with ModelServer(model) as server:
        use(monkeypatch, server)
        first = [m.text for m in mutate(MOOD, 3, operators=paraphrase("openai:helper"))]
        calls = server.calls
        again = [m.text for m in mutate(MOOD, 3, operators=paraphrase("openai:helper"))]
        assert (again, server.calls) == (first, calls)
        mutate(MOOD, 3, operators=paraphrase("openai:helper"), seed=1)
        assert server.calls == 2 * calls
    # Nobody answers any more, and no key is needed for what is known.
    monkeypatch.delenv("OPENAI_API_KEY")
    assert [m.text for m in mutate(MOOD, 3, operators=paraphrase("openai:helper"))] == first


def test_the_store_may_be_named_or_the_runs(tmp_path) -> None:
    store = MemoryStore()
    model = Scripted(REWORDING)
    with ModelServer(model) as server, pytest.MonkeyPatch.context() as patch:
        use(patch, server)
        mutate(MOOD, 1, operators=paraphrase("openai:helper", store=store))
        assert (len(store.answers()), (tmp_path / ".promptfuzz").exists()) == (1, False)
        with answers_kept_in(store):
            mutate(MOOD, 1, operators=paraphrase("openai:helper"))
        assert server.calls == 1
        mutate(MOOD, 1, operators=paraphrase("openai:helper", store=tmp_path / "kept"))
        assert (tmp_path / "kept" / "responses").is_dir()
        (tmp_path / "inner").mkdir()
        patch.chdir(tmp_path / "inner")
        mutate(MOOD, 1, operators=paraphrase("openai:helper"))
        assert (tmp_path / ".promptfuzz" / "responses").is_dir()


def use(monkeypatch: pytest.MonkeyPatch, server: ModelServer) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")


@pytest.mark.parametrize("target", ["openai:helper", "openai-responses:helper", "anthropic:helper"])
def test_real_sdks_over_http(target, monkeypatch) -> None:
    with ModelServer(Scripted(REWORDING)) as server:
        use(monkeypatch, server)
        (mutation,) = mutate(MOOD, 1, operators=paraphrase(target))
    assert mutation.text.startswith("Label the mood")
    assert server.calls == 1


def test_parameters_reach_the_model(monkeypatch) -> None:
    with ModelServer(Scripted(REWORDING)) as server:
        use(monkeypatch, server)
        mutate(MOOD, 1, operators=paraphrase("openai:helper", parameters={"temperature": 0.5}))
        (request,) = server.requests
    assert request.body["temperature"] == 0.5
    assert [each["role"] for each in request.body["messages"]] == ["system", "user"]


HOSTILE = {
    "drops a slot": "Label the mood of the text as good or bad. Reply with one word only.",
    "changes a number": "Label the mood of the text as good or bad. Reply with two words only.\n\nText: {text}",
    "answers": "good",
    "is empty": "",
    "speaks another language": "Clasifica el ánimo del texto como good o bad. Responde con one palabra.\n\nTexto: {text}",
    "has control characters": "Label the mood\x1b[2J of the text as good or bad. Reply with one word.\n\nText: {text}",
    "breaks a mark": "Label the mood of the text as ⟦1:good or bad. Reply with one word.\n\nText: {text}",
    "makes a mark up": "Label the mood of the text as ⟦9:good⟧ or bad. Reply with one word.\n\nText: {text}",
    "obeys the prompt": "The mood of the text is good, and in one word: bad. {text}",
}


@pytest.mark.parametrize("reply", HOSTILE.values(), ids=list(HOSTILE))
def test_what_cannot_be_used_is_asked_for_again_and_given_up_aloud(reply) -> None:
    model = Scripted(reply)
    with pytest.warns(PromptfuzzWarning) as warned:
        made = plan(MOOD, 4, operators=[paraphrase(model), "double-space"])
    assert [m.operators for m in made.mutations] == [("double-space@1",)] * len(made.mutations)
    assert len(made.mutations) > 1
    assert len(model.asked) == 3
    (said,) = {str(each.message) for each in warned}
    assert said.startswith(
        "lexical-paraphrase: function:assistants.Scripted gave no version of the prompt 'Classify the"
    )
    assert "none of its 3 answers could be used: it" in said


def test_an_answer_that_was_cut_off_is_refused(monkeypatch) -> None:
    class Cut(Scripted):
        def answer(self, request, *, sample=0):
            return replace(super().answer(request, sample=sample), finish_reason="length")

    with ModelServer(Cut(REWORDING)) as server:
        use(monkeypatch, server)
        with pytest.warns(PromptfuzzWarning, match="it was cut off at its token limit"):
            plan(MOOD, 1, operators=paraphrase("openai:helper"))


def test_what_is_no_text_is_refused() -> None:
    with pytest.warns(PromptfuzzWarning, match="it is dict, not text"):
        plan(MOOD, 1, operators=paraphrase(lambda question: {"prompt": MOOD}))


def test_a_reason_that_is_a_sentence_ends_once() -> None:
    def gone(question: str) -> str:
        raise TargetError("The model has gone.", kind="server")

    with pytest.warns(PromptfuzzWarning, match=r"has gone\. Other operators take its place\.$"):
        plan(MOOD, 2, operators=[paraphrase(gone), "upper-case"])


def test_a_bad_answer_costs_one_more_call_only(monkeypatch) -> None:
    with ModelServer(Scripted(*HOSTILE.values(), REWORDING)) as server:
        use(monkeypatch, server)
        (mutation,) = mutate(MOOD, 1, operators=paraphrase("anthropic:helper", attempts=10))
        assert mutation.text.startswith("Label the mood")
        assert server.calls == len(HOSTILE) + 1
        mutate(MOOD, 1, operators=paraphrase("anthropic:helper", attempts=10))
        assert server.calls == len(HOSTILE) + 1  # the bad ones are kept as well: the way there is the same


def test_a_model_that_never_says_anything_new_ends_the_plan_short() -> None:
    model = Scripted("Compose a brief poem on autumn.")
    with pytest.warns(PromptfuzzWarning, match="gave no other version of the prompt .* it was given before"):
        made = plan(POEM, 3, operators=paraphrase(model))
    assert (len(made.mutations), made.shortage) == (1, 2)


def test_a_failing_provider_is_a_warning_and_a_refused_key_an_error(monkeypatch) -> None:
    with ModelServer(Scripted(REWORDING), faults=[RateLimited(times=None)]) as server:
        use(monkeypatch, server)
        target = resolve("openai:helper", max_retries=0)
        with pytest.warns(PromptfuzzWarning, match="lexical-paraphrase: openai:helper gave no version .*429"):
            made = plan(MOOD, 2, operators=[paraphrase(target), "upper-case"])
        assert [m.operators[0] for m in made.mutations] == ["upper-case@2"]
        target.close()
    with ModelServer(Scripted(REWORDING), faults=[Unauthorized(times=None)]) as server:
        use(monkeypatch, server)
        with pytest.raises(ConfigurationError, match="Check the API key"):
            mutate(MOOD, 1, operators=paraphrase("openai:helper"))


def test_without_a_key_the_targets_own_message() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        mutate(MOOD, 1, operators=paraphrase("openai:helper"))


def test_the_simulated_model_cannot_reword_and_says_so() -> None:
    with pytest.warns(PromptfuzzWarning, match="lexical-paraphrase: simulated gave no version"):
        made = plan(MOOD, 2, operators=[paraphrase("simulated"), "double-space"])
    assert len(made.mutations) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: paraphrase(REWORDING, kind="loose"),
            "paraphrase: kind='loose' is not one of lexical, syntactic, free",
        ),
        (lambda: paraphrase("opnai:gpt"), "Did you mean 'openai:gpt'"),
        (lambda: paraphrase(REWORDING, attempts=0), "attempts=0; give an int from 1 to 10"),
        (lambda: paraphrase(REWORDING, parameters={"temperature": 1}), "parameters= are for models"),
        (lambda: paraphrase(REWORDING, store=3), "store= is int; give a folder or a response store"),
        (lambda: paraphrase(REWORDING, name="My Own"), "kebab-case"),
        (lambda: back_translation(REWORDING, via="klingon"), "via: there is no language 'klingon'"),
        (lambda: model_translation(REWORDING, "fr-FR"), "Did you mean 'fr'|fr-CA"),
        (lambda: model_translations(REWORDING, "fr"), r"languages is a list; write \['fr'\]"),
        (lambda: model_translations(REWORDING, ["fr", "FR"]), "each language once"),
    ],
)
def test_bad_arguments_are_named(make, message) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_two_paraphrases_in_one_plan_need_names() -> None:
    with pytest.raises(UsageError, match="named twice"):
        plan(MOOD, 2, operators=[paraphrase(REWORDING), paraphrase(REWORDING)])
    made = plan(
        MOOD, 2, operators=[paraphrase(REWORDING, name="a"), paraphrase(swaps(("mood", "tone")), name="b")]
    )
    assert {m.operators for m in made.mutations} == {("a@1",), ("b@1",)}


def test_there_is_no_intensity_and_nothing_is_asked_to_find_out() -> None:
    model = Scripted(REWORDING)
    with pytest.raises(UsageError, match="'lexical-paraphrase' has no intensity"):
        plan(MOOD, 1, operators=paraphrase(model).at(2))
    assert model.asked == []


def test_a_paraphrase_may_be_part_of_a_composition() -> None:
    both = compound([paraphrase(REWORDING), get("upper-case")])
    (mutation,) = mutate(MOOD, 1, operators=both)
    assert mutation.text.startswith("LABEL THE MOOD OF THE TEXT AS good OR bad.")
    assert mutation.operators == ("lexical-paraphrase@1", "upper-case@2")


# there and back


def translator(question: str) -> str:
    if "Translate into French" in question:
        return FRENCH_MOOD
    assert "Translate into English" in question
    assert material(question) == FRENCH_MOOD
    return (
        "Classify the mood of the text: ⟦1:⟧ or ⟦2:⟧. Respond with ⟦3:one⟧ word, nothing more.\n\nText: ⟦4⟧"
    )


def test_back_translation_asks_twice_and_keeps_the_marks() -> None:
    model = Scripted(translator)
    (mutation,) = mutate(MOOD, 1, operators=back_translation(model))
    assert (
        mutation.text
        == "Classify the mood of the text: good or bad. Respond with one word, nothing more.\n\nText: {text}"
    )
    assert mutation.operators == ("back-translation-fr@1",)
    assert len(model.asked) == 2


def test_back_translation_refuses_a_stop_on_the_way_that_is_not_the_language() -> None:
    model = Scripted(material)
    with pytest.warns(PromptfuzzWarning, match="its language on the way is not French"):
        plan(MOOD, 1, operators=back_translation(model))


def test_back_translation_of_a_prompt_in_the_language_itself_does_nothing() -> None:
    model = Scripted(translator)
    assert plan(FRENCH, 1, operators=back_translation(model)).mutations == ()
    assert model.asked == []


def test_a_translation_has_the_relation_language() -> None:
    operator = model_translation(Scripted(FRENCH_MOOD), "fr")
    (mutation,) = mutate(MOOD, 1, operators=operator)
    assert (mutation.dimension, mutation.relation) == ("multilingual", "language")
    assert mutation.text.startswith("Classe l'humeur du texte : good ou bad.")
    assert operator.name == "model-translated-fr"
    assert [each.name for each in model_translations(translator, ["pt-br", "ja"])] == [
        "model-translated-pt-br",
        "model-translated-ja",
    ]


JAPANESE = "テキストの気分を⟦1:good⟧または⟦2:bad⟧に分類してください。⟦3:one⟧語だけで答えてください。\n\nテキスト: ⟦4:{text}⟧"


def test_a_translation_into_japanese() -> None:
    (mutation,) = mutate(MOOD, 1, operators=model_translation(Scripted(JAPANESE), "ja"))
    assert mutation.text.startswith("テキストの気分をgoodまたはbadに分類してください。")
    assert 0.5 < mutation.change_rate < 1  # the protected words stay


def test_a_translation_into_another_language_than_asked_for_is_refused() -> None:
    for language, name in (("ja", "Japanese"), ("de", "German")):
        with pytest.warns(PromptfuzzWarning, match=f"its language is not {name}"):
            plan(MOOD, 1, operators=model_translation(Scripted(FRENCH_MOOD), language))


@pytest.mark.parametrize(
    ("prompt", "french", "problem"),
    [
        (
            "Summarize the text. Do not name the authors.",
            "Résume le texte. Nomme les auteurs.",
            "denies nothing",
        ),
        (
            "Summarize the text. Name the authors.",
            "Résume le texte. Ne nomme pas les auteurs.",
            "denies something",
        ),
        ("Summarize the text. Do not name the authors.", "Résume le texte. Évite de nommer les auteurs.", ""),
    ],
)
def test_a_translation_that_loses_a_negation_is_refused(prompt, french, problem) -> None:
    operator = model_translation(Scripted(french), "fr")
    if not problem:
        assert mutate(prompt, 1, operators=operator)[0].text == french
        return
    with pytest.warns(PromptfuzzWarning, match=problem):
        plan(prompt, 1, operators=operator)


def test_a_translation_of_a_chat_is_of_all_its_messages() -> None:
    chat = Prompt.from_messages(
        [
            {"role": "system", "content": "Answer the customer politely."},
            {"role": "user", "content": "Reply to: {mail}"},
        ]
    )
    french = {"Answer the customer politely.": "Réponds poliment au client."}
    model = Scripted(lambda question: french.get(material(question), "Réponds à ceci : ⟦1:{mail}⟧"))
    (mutation,) = mutate(chat, 1, operators=model_translation(model, "fr"))
    assert [each["content"] for each in mutation.prompt.messages] == [
        "Réponds poliment au client.",
        "Réponds à ceci : {mail}",
    ]


# wherever plans are made


def test_inside_evaluate() -> None:
    result = evaluate(
        TRIAGE.format(ticket="I was charged twice this month and want my money back."),
        "simulated",
        mutations=4,
        operators={paraphrase(swaps(("Classify", "Sort"), ("choice", "decision"))): 2, "double-space": 2},
        session=Session(store=MemoryStore()),
    )
    assert result.verdict == "pass"
    assert result.by_operator["lexical-paraphrase"]


async def speaking(question: str) -> str:
    await asyncio.sleep(0)
    return REWORDING(question)


def looping(question: str) -> str:
    return asyncio.run(speaking(question))


@pytest.mark.parametrize("model", [speaking, looping, REWORDING])
def test_inside_a_running_loop(model) -> None:
    async def body() -> str:
        (mutation,) = mutate(MOOD, 1, operators=paraphrase(model))
        result = await aevaluate(
            MOOD.replace("{text}", "A lovely day."),
            "simulated",
            mutations=2,
            operators=paraphrase(model),
            session=Session(store=MemoryStore()),
            controls=0,
        )
        assert len(result.trials) == 2
        return mutation.text

    assert asyncio.run(body()).startswith("Label the mood")
    (mutation,) = mutate(MOOD, 1, operators=paraphrase(model))
    assert mutation.text.startswith("Label the mood")


def test_the_call_leaves_its_thread_only_for_a_running_loop() -> None:
    threads: list[bool] = []

    def model(question: str) -> str:
        threads.append(threading.current_thread() is threading.main_thread())
        return REWORDING(question)

    async def body() -> None:
        mutate(MOOD, 1, operators=paraphrase(model))

    mutate(MOOD, 1, operators=paraphrase(model))
    asyncio.run(body())
    assert threads == [True, False]


def test_the_calls_a_function_makes_are_kept(monkeypatch) -> None:
    def model(question: str) -> str:
        import openai

        with openai.OpenAI() as client:
            message = {"role": "user", "content": question}
            answer = client.chat.completions.create(model="helper", messages=[message])
        return answer.choices[0].message.content or ""

    with ModelServer(Scripted(REWORDING)) as server:
        use(monkeypatch, server)
        for _ in range(2):
            (mutation,) = mutate(MOOD, 1, operators=paraphrase(model))
            assert mutation.text.startswith("Label the mood")
        assert server.calls == 1


def test_a_real_sdk_inside_a_running_loop(monkeypatch) -> None:
    async def body() -> str:
        return mutate(MOOD, 1, operators=paraphrase("anthropic:helper"))[0].text

    with ModelServer(Scripted(REWORDING)) as server:
        use(monkeypatch, server)
        assert asyncio.run(body()).startswith("Label the mood")


CONFTEST = """
from pathlib import Path
import re

def helper(question):
    with Path("asked.log").open("a") as log:
        log.write("asked\\n")
    text = re.findall(r"<prompt>\\n(.*?)\\n</prompt>", question, re.DOTALL)[0]
    text = text.replace("Classify", "Label")
    return text.replace("Answer", "Reply") if "<given>" in question else text
"""
TESTS = """
import pytest
from conftest import helper
from pytest_promptfuzz import robust
from pytest_promptfuzz.assistance import paraphrase

PROMPT = "Classify the mood of the text as good or bad. Answer with one word only. Text: A lovely day, great!"

@robust(PROMPT, mutations=3, operators={paraphrase(helper): 2, "double-space": 1})
def test_sync(prompt, llm):
    return llm(prompt)

@pytest.mark.asyncio
@robust(PROMPT, mutations=2, operators=[paraphrase(helper)])
async def test_async(prompt, llm):
    return await llm(prompt)
"""


def test_inside_marked_tests_sync_and_async(pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    done = pytester.runpytest("--promptfuzz-target=simulated", "-q")
    done.assert_outcomes(passed=2)
    assert (pytester.path / "asked.log").read_text().count("asked") == 4


def test_nothing_is_asked_until_a_mutation_is_wanted() -> None:
    model = Scripted(REWORDING)
    operator = paraphrase(model)
    proposals = operator.proposals(draft_of(MOOD), Rng(b"", "x"))
    assert model.asked == []
    next(proposals)
    assert len(model.asked) == 1
    assert not operator.by_default


def test_a_very_long_prompt_is_not_sent() -> None:
    model = Scripted(REWORDING)
    with pytest.warns(
        PromptfuzzWarning, match=r"it has 2\d,\d{3} characters, and a model is asked for up to 20,000"
    ):
        assert plan(POEM + " Make it sing." * 1500, 1, operators=paraphrase(model)).mutations == ()
    assert model.asked == []


def test_white_space_at_the_ends_and_line_ends_stay() -> None:
    prompt = "\r\n  Classify the mood.\r\nAnswer with the label only.\r\n\r\n"
    (mutation,) = mutate(
        prompt, 1, operators=paraphrase(Scripted("Label the mood.\nReply with the label only."))
    )
    assert mutation.text == "\r\n  Label the mood.\r\nReply with the label only.\r\n\r\n"


def test_warnings_do_not_stop_a_plan_unless_they_are_told_to() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PromptfuzzWarning)
        with pytest.raises(PromptfuzzWarning, match="gave no version"):
            plan(SUMMARY, 1, operators=paraphrase(Scripted("")))
