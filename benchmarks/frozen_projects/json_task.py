"""JSON, SQL and code, with a schema, ignored paths and thresholds."""

import itertools
import json

from pytest_promptfuzz import robust

EXTRACT = 'Extract name and email as JSON with the keys "name" and "email".\n\nText: Please ask Lena Fischer, lena@fischer.org.'
SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "email": {"type": "string"}},
}
IDS = itertools.count()


@robust(EXTRACT, task="json", schema=SCHEMA)
def test_schema(prompt, llm):
    return json.loads(llm(prompt).text)


@robust(EXTRACT, ignore=["$.id", "$.nowhere"], mutations=4)
def test_ignored(prompt, llm):
    return {"id": next(IDS), **json.loads(llm(prompt).text)}


@robust(EXTRACT, schema={"type": "object", "required": ["phone"]}, mutations=4)
def test_not_of_the_schema(prompt, llm):
    return llm(prompt)


@robust("Write a SQL query to get all customers from Germany.", task="sql", stop="never")
def test_sql(prompt, llm):
    return llm(prompt)


@robust(
    "Write a function that adds two numbers. Answer with Python only.", controls=0, mutations=6, stop="never"
)
def test_code(prompt):
    names = ("a", "b") if "numbers" in str(prompt) else ("x", "y")
    sign = "-" if str(prompt).isupper() else "+"
    return f"def add({', '.join(names)}):\n    return {names[0]} {sign} {names[1]}\n"
