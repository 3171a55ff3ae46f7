"""Prose compared claim by claim: what contradicts is named, and what words cannot tell is left open."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import compare
from pytest_promptfuzz.comparing.claims.facts import unmatched
from pytest_promptfuzz.comparing.profiles import profile_for
from pytest_promptfuzz.comparing.reading.answer import read

DECISION = (
    "**Decision: decline the refund, offer a voucher.**\n\n"
    "- The Hotel Miramar booking (9–12 August) was at a non-refundable rate.\n"
    "- Mr Lindqvist cancelled on 7 August, only two days before arrival.\n"
    "- His illness isn't covered because he didn't buy travel protection.\n\n"
    "As a goodwill gesture, I'd offer him a £120 voucher valid for 12 months."
)
REWORDED = (
    "I wouldn't refund the booking, but I would offer a voucher. Mr Lindqvist chose a non-refundable rate for his stay "
    "at Hotel Miramar from 9 to 12 August and cancelled just two days before arriving, on 7 August. As he had no travel "
    "protection, his illness isn't covered. A voucher worth £120, redeemable for a year, would be a fair gesture."
)
TABLE = (
    "| Device | Current | Fuse |\n|---|---|---|\n| Water bath | 6.5 A | 10 A |\n| Hot plate | 4.3 A | 16 A |"
)
QUAKE = (
    "An earthquake of magnitude 6.2 struck near Karsou on Tuesday at 4:12 am local time. At least 37 people were killed "
    "and more than 400 were injured. The airport is closed, but the hospital remains open for everyone."
)

TICKET = "The customer was charged twice and wants one of the payments back; she has already told us twice by e-mail.\n\nCategory: Billing"
RETURNED = (
    "Decision: Approve the return.\n\nThe seal of the parcel was torn when it came. Please ask the customer to send the "
    "box or the label back to our warehouse in Leeds."
)
BREAK = (
    "Your landlord missed the deadline for protecting the deposit in an approved scheme. Write a letter first, give 14 "
    "days to respond, then apply to the county court for compensation."
)


@pytest.mark.parametrize(
    ("baseline", "response", "reason", "explanation"),
    [
        (DECISION, REWORDED.replace("£120", "£20"), "guard:numbers", "£120 in the baseline became £20"),
        (DECISION, REWORDED.replace("7 August", "17 August"), "guard:numbers", "7 in the baseline became 17"),
        (DECISION, DECISION.replace("12 months", "12 weeks"), "guard:numbers", "12 months in the baseline became 12 weeks"),
        (DECISION, DECISION.replace("didn't buy", "bought"), "guard:negation", "only the baseline says"),
        (DECISION, DECISION.replace("before arrival", "after arrival"), "guard:", "'before' in the baseline"),
        (TABLE, TABLE.replace("6.5", "x").replace("4.3", "6.5").replace("x", "4.3"), "guard:numbers", "in 'Water bath current', 6.5 A became 4.3 A"),
        (QUAKE, QUAKE.replace("37", "x").replace("400", "37").replace("x", "400"), "guard:roles", "changed places"),
        (QUAKE, QUAKE.replace("Karsou", "Belmar"), "guard:names", "Karsou in the baseline became Belmar"),
        (QUAKE, QUAKE.replace("is closed", "is open"), "guard:opposites", "'closed' in the baseline became 'open'"),
        (DECISION, DECISION.replace(" valid for 12 months", ""), "guard:numbers", "does not give 12 months"),
        (DECISION, REWORDED.replace("worth £120, ", ""), "guard:numbers", "does not give £120"),
        (TICKET, TICKET.replace("Billing", "Account"), "guard:fields", "in 'Category', Billing became Account"),
        ("This belongs to Billing, since "+TICKET.partition("\n")[0], TICKET.replace("Billing", "Account"), "guard:fields", "in 'Category', the baseline does not name Account"),
        (RETURNED, RETURNED.replace("Approve", "Reject"), "guard:opposites", "'Approve' in the baseline became 'Reject'"),
        (RETURNED, RETURNED.replace("torn", "intact"), "guard:opposites", "'torn' in the baseline became 'intact'"),
        (RETURNED, RETURNED.replace("box or the", "box and the"), "guard:choices", "'or' in the baseline became 'and'"),
        (BREAK, "No rule was broken, so nothing can be reclaimed at present: landlords may keep the money safe with anyone they trust until the tenancy ends, whatever tenants wish.", "claims", "the answers say different things: the response does not give 14 days"),
    ],
)  # fmt: skip
def test_what_contradicts_is_named(baseline, response, reason, explanation) -> None:
    found = compare(baseline, response, task="generation")
    assert found.outcome == "deviation", found.explanation
    assert found.reason.startswith(reason)
    assert explanation in found.explanation


@pytest.mark.parametrize(
    "response",
    [
        REWORDED,
        DECISION.replace("12 months", "a year").replace("isn't covered", "is not covered"),
        DECISION.replace("9–12 August", "August 9–12"),
        # What follows from the rest may be left out.
        REWORDED.replace("just two days before arriving, on 7 August", "on 7 August"),
    ],
)
def test_a_harmless_rewording_is_never_a_deviation(response) -> None:
    assert compare(DECISION, response, task="generation").outcome != "deviation"
    assert compare(response, DECISION, task="generation").outcome != "deviation"


def test_what_words_cannot_tell_is_undecided_and_says_what_would_settle_it() -> None:
    found = compare(DECISION, REWORDED, task="generation")
    assert (found.outcome, found.similarity, found.reason) == ("undecided", None, "claims")
    assert "words cannot tell whether the answers say the same" in found.explanation
    assert "judge" in found.explanation


def test_no_likeness_of_meaning_makes_them_equivalent_and_unlike_ones_are_a_deviation() -> None:
    class Same:
        name = "finds everything alike"

        def embed(self, texts):
            return [[1.0, 0.0] for _ in texts]

    class Other(Same):
        def embed(self, texts):
            return [[1.0, 0.0], [0.0, 1.0]]

    assert compare(DECISION, REWORDED, task="generation", semantic=Same()).outcome == "undecided"
    found = compare(DECISION, REWORDED, task="generation", semantic=Other())
    assert (found.outcome, found.reason) == ("deviation", "semantic")


def test_more_detail_is_minor_and_named() -> None:
    found = compare(QUAKE, f"{QUAKE} Rescue teams came from Belmar.", task="generation")
    assert (found.outcome, found.reason) == ("minor", "claims")
    assert "adds 'Rescue teams came from Belmar.'" in found.explanation


def test_sentences_in_another_order_are_equivalent() -> None:
    first, second, third = QUAKE.split(". ")
    found = compare(QUAKE, f"{second}. {first}. {third}", task="generation")
    assert found.outcome == "equivalent"


def test_a_profile_without_a_guard_does_not_look_for_its_contradictions() -> None:
    other = QUAKE.replace("400", "900")
    assert compare(QUAKE, other, task="generation").outcome == "deviation"
    lenient = profile_for("generation", guards=["negation"])
    assert compare(QUAKE, other, profile=lenient).outcome != "deviation"


def test_two_answers_of_different_authors_need_not_give_the_same_figures() -> None:
    one = "Walter Brennan plays Stumpy in Rio Bravo, a western directed by Howard Hawks and first shown in 1959."
    two = (
        "The part of Stumpy in the film Rio Bravo was played by the actor Walter Brennan, known for old men."
    )
    assert compare(one, two, task="generation").outcome != "deviation"


@pytest.mark.parametrize(
    ("baseline", "response"),
    [
        # A share as a number, and one of two that a statement gives.
        ("With simple interest you pay 6% of £12,000 each year, which is £720, for the whole term of three years.",
         "Interest for each of the three years of the whole term is 0.06 × £12,000, and that makes £720 to pay."),
        ("Margins improved from 18% to 22% in the quarter, as sales of technology grew faster than those of services.",
         "As technology sold better than services, margins of 22% were reached by the end of the quarter."),
        # A contrary and a denial.
        ("The technician looked at the dishwasher on Thursday in the morning and found that its door seal was torn.",
         "Looking at the dishwasher on Thursday morning, a technician saw this: the door seal was not intact."),
        ("This looks like a likely account compromise, so revoke every session and reset the password right now.",
         "This looks like a probable account compromise, so revoke every session and reset the password right now."),
    ],
)  # fmt: skip
def test_the_same_in_other_notations_and_contraries_is_no_deviation(baseline, response) -> None:
    for found in (compare(baseline, response), compare(response, baseline)):
        assert found.outcome != "deviation", found.explanation


CONTACTS = (
    "| City | Contact | Status |\n| --- | --- | --- |\n| Leeds | Anna | open |\n| York | Ben | closed |\n"
    "| Hull | Carl | open |"
)


@pytest.mark.parametrize(
    ("response", "explanation"),
    [
        (
            CONTACTS.replace("Anna", "x").replace("Ben", "Anna").replace("x", "Ben"),
            "Anna of 'Leeds contact' and Ben",
        ),
        (
            CONTACTS.replace("Anna | open", "Anna | closed").replace("Ben | closed", "Ben | open"),
            "'Leeds status'",
        ),
    ],
)
def test_cells_that_changed_places_are_named_with_row_and_column(response, explanation) -> None:
    found = compare(CONTACTS, response, task="generation")
    assert (found.outcome, found.reason) == ("deviation", "guard:fields")
    assert explanation in found.explanation
    assert "changed places" in found.explanation


def test_an_added_sentence_about_the_same_thing_may_contradict() -> None:
    booked = f"{QUAKE} Breakfast is included in every room of the hotel."
    found = compare(booked, f"{booked} Guests pay for breakfast separately.", task="generation")
    assert found.outcome == "undecided"


@pytest.mark.parametrize(
    "sign_off", [" Kind regards, your support team", "\n\nKind regards,\nYour support team"]
)
def test_a_sign_off_is_a_courtesy(sign_off) -> None:
    assert compare(QUAKE, QUAKE + sign_off, task="generation").outcome == "equivalent"
    assert compare(QUAKE + sign_off, QUAKE, task="generation").outcome == "equivalent"


BOOKING = (
    "The booking of Ms Lund from 3 May to 9 May is confirmed for two adults. The room costs €410 in all, of which €90 "
    "were paid on 14 April. Parking at the house in Bergen is included."
)


@pytest.mark.parametrize(
    ("baseline", "response", "outcome", "explanation"),
    [
        # Another figure, nowhere near: most of the others are there.
        (
            BOOKING,
            (
                "Ms Lund, two adults, 3 May until 9 May: we confirm. You can leave your car at our house in Bergen. On 14 "
                "April we received an advance of €90. All in all that makes a sum which is nothing but fair: €530."
            ),
            "deviation",
            "€410 in the baseline became €530",
        ),
        # First letters stand for the name.
        (
            "The World Health Organization advised travellers in June to be vaccinated against measles before they leave home by ship.",
            "In June the WHO advised that travellers be vaccinated against measles before their departure by ship.",
            "undecided",
            "",
        ),
        # A contrary, in other words around it.
        (
            "The council approved the budget for the new library on Monday after a debate of three hours.",
            "On Monday, three hours of debate ended: the new library budget was rejected by the council.",
            "deviation",
            "'approved' in the baseline became 'rejected'",
        ),
        # A denial in one answer only.
        (
            "The warranty covers damage that the customer reports within a month, and the repair takes a week.",
            "Customers who report damage within a month do not get it covered by the warranty; a repair takes a week.",
            "undecided",
            "only the response says 'not get it covered'",
        ),
        # One word of a text that was kept.
        (BOOKING, BOOKING.replace("Parking", "Laundry"), "undecided", "'parking' in the baseline became 'laundry'"),
        # Other steps of a calculation.
        (
            "The interest on the loan is 18,250 × 8 % / 365 = 4.00 euros for each day that the customer pays late.",
            "For each day that the customer pays late, the interest on the loan is 4.00 euros (1,460 / 365).",
            "undecided",
            "",
        ),
    ],
)  # fmt: skip
def test_what_is_told_in_other_words(baseline, response, outcome, explanation) -> None:
    found = compare(baseline, response, task="generation")
    assert found.outcome == outcome, found.explanation
    assert explanation in found.explanation


def test_forms_of_a_word_are_one_word() -> None:
    one, two = read("They investigate the committee."), read("The committee is under investigation.")
    assert unmatched(one, two) == unmatched(two, one) == []


def test_first_letters_stand_for_a_name_in_either_answer() -> None:
    long = "The World Trade Organization met in Geneva in June to talk about tariffs on steel and on cars."
    short = "In June the WTO met in Geneva to talk about tariffs on steel and on cars, and on little else."
    for one, two in ((long, short), (short, long)):
        found = compare(one, two, task="generation")
        assert (found.outcome, "became" in found.explanation) == ("undecided", False)


def test_a_short_statement_of_a_text_that_was_kept_is_a_doubt() -> None:
    other = QUAKE.replace("The airport is closed", "The museum was looted")
    found = compare(f"{QUAKE} Ships wait.", f"{QUAKE} Trains wait.", task="generation")
    assert (found.outcome, found.reason) == ("undecided", "claims")
    assert "'ships' in the baseline became 'trains'" in found.explanation
    assert compare(QUAKE, other, task="generation").outcome == "undecided"
