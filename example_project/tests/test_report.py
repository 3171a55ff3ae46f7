"""The application's own calls of OpenAI's Responses API."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import robust
from support_app import report

REQUESTS = {
    "count": ("How many orders are there per status?", "count("),
    "filter": ("List the names of customers from Germany.", "germany"),
}


@pytest.mark.parametrize(("request_", "expected"), REQUESTS.values(), ids=REQUESTS)
@robust(mutate="support_app.prompts.REPORT", task="sql")
def test_report_query(request_, expected):
    query = report.query_for(request_)
    assert query.lower().startswith("select")
    assert expected in query.lower()
    return query
