"""What is read letter by letter: case in quotes and paths, the marks and lines of code; and the order of steps."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.comparing.profiles import GUARDS, Profile, profile_for
from pytest_promptfuzz.judging.compare import compare

OTHER = [
    (
        "Stop the server. Back up the database. Delete the old files.",
        "Delete the old files. Stop the server. Back up the database.",
    ),
    (
        "Turn off the power. Remove the cover. Replace the fuse.",
        "Remove the cover. Turn off the power. Replace the fuse.",
    ),
    ("The fastest were Anna, Ben and Cleo.", "The fastest were Cleo, Ben and Anna."),
    ("Anna, Ben and Cleo finished in this order.", "Cleo, Ben and Anna finished in this order."),
    ("x = 1\ny = x\nx = 2", "x = 1\nx = 2\ny = x"),
    ("open(f)\nclose(f)", "close(f)\nopen(f)"),
    ("git push\ngit commit", "git commit\ngit push"),
    ("print('a')", "print('A')"),
    ("x = 'Hello'", "x = 'hello'"),
    ("rm -rf /tmp/a", "rm -rf /tmp/A"),
    ("a = b = []", "a = []\nb = []"),
    ("US", "us"),
    (
        "Unplug the router. Wait 30 seconds. Plug it in again.",
        "Wait 30 seconds. Unplug the router. Plug it in again.",
    ),
    ("Save the file. Close the editor.", "Close the editor. Save the file."),
    ("Add the eggs. Bake the cake. Let it cool.", "Bake the cake. Add the eggs. Let it cool."),
    ("Wash your hands. Cut the meat.", "Cut the meat. Wash your hands."),
    ("The tallest are Ben, Ida and Tom.", "The tallest are Tom, Ida and Ben."),
    ("The cheapest were Oslo, Bonn and Kiel.", "The cheapest were Kiel, Bonn and Oslo."),
    ("Ida, Tom and Ben arrived in this order.", "Tom, Ida and Ben arrived in this order."),
    ("docker build .\ndocker push app", "docker push app\ndocker build ."),
    ("a = 1\nb = a", "b = a\na = 1"),
    ("lock()\nwrite()\nunlock()", "unlock()\nwrite()\nlock()"),
    ("cd /srv\nrm -r old", "rm -r old\ncd /srv"),
    ("Run 'Build' first, please.", "Run 'build' first, please."),
    ("Open /etc/Hosts now.", "Open /etc/hosts now."),
    ("Use ls -a for it.", "Use ls -A for it."),
    ('Type "Admin" into the field.', 'Type "admin" into the field.'),
    ("cp -r a b", "cp -R a b"),
    ("cd ~/Work", "cd ~/work"),
    ("name = 'Ada'", "name = 'ada'"),
    ("See https://a.com/Docs for more.", "See https://a.com/docs for more."),
    ("x = y = 0", "x = 0\ny = 0"),
    ("Call getName() now with `userId`.", "Call getName() now with `userid`."),
    ("f(a, b)", "f(a)(b)"),
    ("It is a US matter.", "It is a us matter."),
]
ALIKE = [
    ("Refund", "refund"),
    ('"Refund"', '"refund"'),
    ("The label is 'Billing'.", "The label is 'billing'."),
    ("We sell lamps. We repair chairs.", "We repair chairs. We sell lamps."),
    ("The sky is blue. The grass is green.", "The grass is green. The sky is blue."),
    ("Bring a hat, a coat and boots.", "Bring boots, a coat and a hat."),
    ("PLEASE READ THIS.", "Please read this."),
    ("git push", "git push."),
    ("x = 1", "x=1"),
    ("print( 'a' )", "print('a')"),
    ("He isn't here.", "HE ISN'T HERE."),
    ("Don't stop.", "don't stop."),
    ("The and/or rule holds.", "The And/Or rule holds."),
    ("It's the dog's toy.", "it's the Dog's toy."),
    ("We offer tea and/or coffee.", "We offer Tea and/or Coffee."),
    ("The well-known firm is here.", "The Well-Known firm is here."),
    ("Anna, Ben and Cleo were there.", "Cleo, Ben and Anna were there."),
    ("Sarah came second, Tim came first.", "Tim came first, Sarah came second."),
]
REVERSED = [
    ("for i in range(10): print(i)", "for i in range(1, 10): print(i)"),
    ("sleep(5)\nrun()", "sleep(50)\nrun()"),
]


def outcomes(first: str, second: str, task: str | None = None) -> list[str]:
    return [compare(*way, task=task).outcome for way in ((first, second), (second, first))]


@pytest.mark.parametrize("task", [None, "free"])
@pytest.mark.parametrize(("first", "second"), OTHER)
def test_another_letter_mark_or_order_is_not_equivalent(first: str, second: str, task: str | None) -> None:
    assert "equivalent" not in outcomes(first, second, task)


@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_what_is_written_otherwise_without_a_meaning_is_equivalent(first: str, second: str) -> None:

    assert outcomes(first, second) == ["equivalent", "equivalent"]


@pytest.mark.parametrize(("first", "second"), REVERSED)
def test_another_number_in_code_is_a_deviation(first: str, second: str) -> None:
    assert outcomes(first, second, "free") == ["deviation", "deviation"]


def test_the_guard_can_be_left_out() -> None:
    found = compare("rm -rf /tmp/a", "rm -rf /tmp/A", profile=_without("literal"))
    assert found.outcome == "equivalent"


def _without(name: str) -> Profile:
    return profile_for("free", guards=[each for each in GUARDS if each != name])


@pytest.mark.parametrize(
    ("first", "second", "guard", "said"),
    [
        (
            "git push\ngit commit",
            "git commit\ngit push",
            "literal",
            "the lines of code stand in another order",
        ),
        ("x = 1\nf(a, b)", "x = 1\nf(a)(b)", "literal", "the code differs in case or in its marks"),
        (
            "Stop the app. Back up the data. Delete it.",
            "Delete it. Stop the app. Back up the data.",
            "sequence",
            "another order",
        ),
        (
            "The tallest are Ben, Ida and Tom.",
            "The tallest are Ben, Tom and Ida.",
            "sequence",
            "another order",
        ),
    ],
)
def test_what_the_guards_say(first: str, second: str, guard: str, said: str) -> None:
    notes = {tier.name: tier.note for tier in compare(first, second, task="free").tiers}
    assert said in notes[f"guard:{guard}"]
