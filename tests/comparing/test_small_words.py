"""Labels that are mentioned, not given, and small words that carry meaning; with what looks like them and is harmless."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.comparing.labels import concluded
from pytest_promptfuzz.judging.compare import compare

NOT_EQUIVALENT = [
    ("billing", "The ticket is about billing and shipping."),
    ("billing", "shipping and billing."),
    ("refund", "It is about refund and exchange."),
    ("The key is in the box on the shelf.", "The key is on the box in the shelf."),
    ("billing", "The ticket is about shipping and billing."),
    ("yes", "Yes and no."),
    ("no", "No and yes."),
    ("yes", "Yes or no."),
    ("yes", "Yes but also no."),
    ("1,000", "1.000"),
    ("1,5", "1.5"),
    ("first", "first class"),
    ("The cat is under the table.", "The cat is on the table."),
    ("The keys are in the car.", "The keys are on the car."),
    ("Write on the form.", "Write under the form."),
    ("Put the cake in the oven.", "Put the cake on the oven."),
    ("It lies behind the wall.", "It lies on the wall."),
    ("This is your fault.", "This is my fault."),
    ("Their car is new.", "Our car is new."),
    ("We lost his luggage.", "We lost her luggage."),
    ("The bill was paid.", "The bill will be paid."),
    ("She is a doctor.", "She was a doctor."),
    ("The shop will be open.", "The shop was open."),
    ("He works with the police.", "He works for the police."),
    ("She spoke about him.", "She spoke to him."),
    ("Delivery in 5 days.", "Delivery for 5 days."),
    ("Send the bill to the buyer.", "Send the bill for the buyer."),
]
REVERSED = [
    ("billing", "Shipping (the customer mentions billing)"),
    ("spam", "Newsletter (some would call it spam)"),
    ("positive", "Negative (though one positive remark)"),
    ("refund", "The customer asks for a refund, hence: exchange."),
    ("refund", "The customer asks for a refund, so: exchange."),
    ("bug", "They report a bug; thus: feature."),
    ("sports", "It mentions sports → politics"),
    ("billing", "anything but billing"),
    ("positive", "far from positive"),
    ("positive", "false positive"),
    ("spam", "spam-free"),
    ("refund", "Exchange. The customer first asked for a refund."),
    ("billing", "It looks like billing at first, but shipping is the right label."),
    ("refund", "Although it mentions refund, exchange fits best."),
    ("urgent", "They say urgent, however routine fits best."),
    ("range(10)", "range(1, 10)"),
    ("He ran into the house.", "He ran out of the house."),
    ("She voted for the motion.", "She voted against the motion."),
    ("Swim with the current.", "Swim against the current."),
    ("Send it to Berlin.", "Send it from Berlin."),
    ("Walk up the stairs.", "Walk down the stairs."),
    ("The lamp hangs over the desk.", "The lamp hangs under the desk."),
    ("Reply within 5 days.", "Reply after 5 days."),
    ("He owes me 50 euros.", "I owe him 50 euros."),
    ("You owe us 20 euros.", "We owe you 20 euros."),
    ("She trusts him.", "He trusts her."),
    ("I am not sure.", "I am sure."),
    ("All members are the managers.", "The managers are all members."),
    ("Only men are the owners.", "The owners are only men."),
    ("Drive from the bank to the park.", "Drive to the bank from the park."),
    ("Take it twice a day.", "Take it once a day."),
    ("It runs twice a week.", "It runs once a week."),
    ("Water it three times a day.", "Water it once a day."),
    ("Only members may vote.", "Members may vote."),
    ("Only adults can enter the hall.", "Adults can enter the hall."),
    ("Trains cost more than buses.", "Buses cost more than trains."),
    ("The Nile is longer than the Rhine.", "The Rhine is longer than the Nile."),
    ("Ann earns less than Bob.", "Bob earns less than Ann."),
    ("The A380 carries more passengers than the 747.", "The 747 carries more passengers than the A380."),
    ("I doubt that it works.", "I am sure that it works."),
    ("We doubt they will come.", "We believe they will come."),
    ("She doubts that he lied.", "She is certain that he lied."),
    ("Almost all users agreed.", "All users agreed."),
    ("Nearly every seat is taken.", "Every seat is taken."),
    ("Some, if not all, tests passed.", "No tests passed."),
    ("Take it two times a day.", "Take it four times a day."),
    ("Take it two times a day.", "Take it three times a day."),
]
HARMLESS = [
    ("refund", "Refund (the customer asks for their money back)"),
    ("billing", "They mention an invoice, hence: billing."),
    ("exchange", "The customer first asked for a refund, but exchange is the right label."),
    ("shipping", "Although it mentions billing, shipping fits best."),
    ("refund", "Refund. The customer wants money back."),
    ("billing", "billing, not shipping"),
    ("billing", "Not shipping: billing."),
    ("positive", "positive and not negative"),
    ("spam", "Interesting. This is spam."),
    ("spam", "Interesting. It is spam, clearly."),
    ("He left early.", "He went early."),
    ("positive", "Wow. The review is positive."),
    ("refund", "Ticket 12 (sent by Ann on Monday): refund"),
    ("N/A", "not applicable"),
    ("no", "Not at all."),
    ("no", "By no means."),
    ("He cannot attend.", "He is unable to attend."),
    ("You can find it in the app.", "You can find it on the app."),
    ("The order was shipped.", "The order has been shipped."),
    ("The train goes from Bonn to Kiel.", "The train goes to Kiel from Bonn."),
    ("The store will close at 5 pm.", "The store closes at 5 pm."),
    ("He looked out of the window.", "He looked out the window."),
    ("The file is in the folder.", "You find the file inside the folder."),
    ("We met on Monday in Rome.", "In Rome we met on Monday."),
    ("The winner is Anna.", "Anna is the winner."),
    ("The capital of Peru is Lima.", "Lima is the capital of Peru."),
    ("The cause was a leak.", "A leak was the cause."),
    ("All employees, except interns, get a bonus.", "All employees get a bonus, interns excepted."),
    ("All days except Sunday are open.", "All days are open except Sunday."),
    ("Take it two times per day.", "Take it twice a day."),
    ("Water it three times a week.", "Water it thrice weekly."),
    ("You only need a stamp.", "You need only a stamp."),
    ("Only if it rains, we stay.", "We stay only if it rains."),
    ("The Nile is longer than the Rhine.", "The Rhine is shorter than the Nile."),
    ("I doubt that it works.", "I am not sure that it works."),
    ("I do not doubt that it works.", "I am sure that it works."),
    ("Almost all users agreed.", "Nearly all users agreed."),
    ("Some, if not all, users agreed.", "Some users, perhaps all, agreed."),
    ("It costs more than 5 euros.", "More than 5 euros is what it costs."),
]


def outcomes(first: str, second: str) -> list[str]:
    return [compare(*way).outcome for way in ((first, second), (second, first))]


@pytest.mark.parametrize(("first", "second"), NOT_EQUIVALENT)
def test_what_differs_in_a_small_word_is_not_equivalent(first: str, second: str) -> None:
    assert "equivalent" not in outcomes(first, second)


@pytest.mark.parametrize(("first", "second"), REVERSED)
def test_what_is_turned_round_is_a_deviation(first: str, second: str) -> None:
    assert outcomes(first, second) == ["deviation", "deviation"]


@pytest.mark.parametrize(("first", "second"), HARMLESS)
def test_what_says_the_same_is_no_deviation(first: str, second: str) -> None:
    assert "deviation" not in outcomes(first, second)


@pytest.mark.parametrize(
    ("label", "answer"),
    [
        ("exchange", "The customer first asked for a refund, but exchange is the right label."),
        ("shipping", "Although it mentions billing, shipping fits best."),
    ],
)
def test_what_is_concluded_is_stated(label: str, answer: str) -> None:
    assert compare(label, answer).outcome == "equivalent"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Shipping (the customer mentions billing)", "shipping"),
        ("A refund is asked for, so: exchange.", "exchange"),
        ("It looks like spam, but ham is the better choice.", "ham"),
        ("Yes (see the second page)", None),
        ("The customer asks for a refund.", None),
        ("hence: spam. hence: ham.", None),
    ],
)
def test_the_conclusion_of_an_answer(text: str, label: str | None) -> None:
    assert concluded(text) == label
