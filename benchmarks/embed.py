"""What comparing meaning costs: MiniLM through onnxruntime, through sentence-transformers, with all vectors on disk.

Each measurement is a process of its own that embeds one text, then 64 more of 50 words. The kinds take turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measuring import project, run

WORDS = (  # noqa: SIM905 - a line a word would fill the page
    "parcel order invoice courier depot address refund account delay window driver label box city street confirm "
    "deliver return replace cancel expect arrive collect settle extend late early broken missing paid open next"
).split()
MORE = 64


def text(number: int, words: int = 50) -> str:
    """A text of its own, by a linear congruential generator: the same on every machine."""
    state, chosen = number + 1, []
    for _ in range(words):
        state = (state * 1103515245 + 12345) % 2**31
        chosen.append(WORDS[(state >> 8) % len(WORDS)])
    return " ".join(chosen).capitalize() + "."


def child(kind: str, folder: str, vectors: str) -> None:
    """Embed, and print what it took."""
    started, cpu = time.perf_counter(), time.process_time()
    from pytest_promptfuzz.judging.encoders import OnnxEmbedder, SentenceTransformerEmbedder
    from pytest_promptfuzz.judging.meaning import CachedEmbedder, VectorFile

    embedder = SentenceTransformerEmbedder(folder) if kind == "torch" else OnnxEmbedder(Path(folder))
    kept = VectorFile(Path(vectors), print) if kind in {"warm", "fill"} else None
    cached = CachedEmbedder(embedder, kept)
    cached.embed([text(0)])
    first = time.perf_counter() - started, time.process_time() - cpu
    started, cpu = time.perf_counter(), time.process_time()
    cached.embed([text(number) for number in range(1, MORE + 1)])
    more = time.perf_counter() - started, time.process_time() - cpu
    loaded = sorted({"torch", "onnxruntime", "tokenizers", "numpy"} & set(sys.modules))
    print(json.dumps({"first": first, "more": more, "loaded": loaded}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trained", help="the sentence-transformers model")
    parser.add_argument("exported", nargs="?", help="the same, exported; by default it is exported now")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, project({}) as (root, env):
        exported = options.exported
        if exported is None:
            from pytest_promptfuzz.judging.encoders import SentenceTransformerEmbedder
            from pytest_promptfuzz.judging.installation import export

            exported = str(Path(made) / "exported")
            export(SentenceTransformerEmbedder(options.trained, name="all-MiniLM-L6-v2"), Path(exported))
        vectors = str(root / ".promptfuzz")
        env |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

        def measured(kind: str) -> tuple[float, float, float, dict]:
            folder = options.trained if kind == "torch" else exported
            command = [sys.executable, __file__, "--child", kind, folder, vectors]
            cost, printed = run(command, cwd=root, env=env)
            return cost.wall, cost.cpu, cost.peak / 1024, json.loads(printed.splitlines()[-1])

        for kind in ("fill", "warm", "onnx", "torch"):
            measured(kind)  # compiled, and in the memory of the file system
        kinds = {"onnx": "onnxruntime", "torch": "sentence-transformers", "warm": "vectors on disk"}
        found: dict[str, list[tuple[float, float, float, dict]]] = {kind: [] for kind in kinds}
        for _ in range(options.rounds):
            for kind, rounds in found.items():
                rounds.append(measured(kind))
    print(
        f"medians of {options.rounds} rounds; first: libraries, model and one text; 64 more texts of 50 words\n"
    )
    print(
        "| | process, s | CPU, s | peak, MiB | first, s | first, CPU s | ms a text | CPU ms a text | loads |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for kind, rounds in found.items():
        middle = statistics.median
        wall, cpu, peak = (middle(each[place] for each in rounds) for place in range(3))
        first = [middle(each[3]["first"][place] for each in rounds) for place in range(2)]
        more = [middle(each[3]["more"][place] for each in rounds) / MORE * 1000 for place in range(2)]
        loads = ", ".join(rounds[0][3]["loaded"]) or "none of them"
        print(
            f"| {kinds[kind]} | {wall:.2f} | {cpu:.2f} | {peak:.0f} | {first[0]:.2f} | {first[1]:.2f} "
            f"| {more[0]:.2f} | {more[1]:.2f} | {loads} |"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
