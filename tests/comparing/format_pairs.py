"""Answers in one format and in another, with what a reader says of them; written before the code that compares them.

Each is ``(name, baseline, response, format asked for or None, outcome)``.
"""

from __future__ import annotations

ORDER = '{"customer": "Ada Lovelace", "order_number": 4711, "paid": true, "items": ["lamp", "desk"]}'
PEOPLE = '[{"name": "Ada", "age": 36}, {"name": "Alan", "age": 41}]'
NESTED = '{"invoice": {"total": 99.5, "currency": "EUR", "due": "2024-03-14"}, "notes": null}'
NESTED_YAML = "invoice:\n  total: 99.5\n  currency: EUR\n  due: 2024-03-14\nnotes: null"

FORMAT_PAIRS: list[tuple[str, str, str, str | None, str]] = [
    # JSON against YAML
    (
        "yaml-flat",
        ORDER,
        "customer: Ada Lovelace\norder_number: 4711\npaid: true\nitems:\n  - lamp\n  - desk",
        "yaml",
        "equivalent",
    ),
    (
        "yaml-fenced",
        ORDER,
        "```yaml\ncustomer: Ada Lovelace\norder_number: 4711\npaid: true\nitems:\n- lamp\n- desk\n```",
        "yaml",
        "equivalent",
    ),
    (
        "yaml-flow-list",
        ORDER,
        'customer: "Ada Lovelace"\norder_number: 4711\npaid: yes\nitems: [lamp, desk]',
        "yaml",
        "equivalent",
    ),
    (
        "yaml-number",
        ORDER,
        "customer: Ada Lovelace\norder_number: 4712\npaid: true\nitems:\n  - lamp\n  - desk",
        "yaml",
        "deviation",
    ),
    (
        "yaml-item-lost",
        ORDER,
        "customer: Ada Lovelace\norder_number: 4711\npaid: true\nitems:\n  - lamp",
        "yaml",
        "deviation",
    ),
    (
        "yaml-key-lost",
        ORDER,
        "customer: Ada Lovelace\npaid: true\nitems:\n  - lamp\n  - desk",
        "yaml",
        "deviation",
    ),
    ("yaml-nested", NESTED, NESTED_YAML, "yaml", "equivalent"),
    (
        "yaml-nested-date",
        NESTED,
        NESTED_YAML.replace("2024-03-14", "2024-03-15"),
        "yaml",
        "deviation",
    ),
    ("yaml-list-of-maps", PEOPLE, "- name: Ada\n  age: 36\n- name: Alan\n  age: 41", "yaml", "equivalent"),
    (
        "yaml-list-of-maps-swapped",
        PEOPLE,
        "- name: Ada\n  age: 41\n- name: Alan\n  age: 36",
        "yaml",
        "deviation",
    ),
    ("yaml-bool", '{"spam": true}', "spam: false", "yaml", "deviation"),
    ("yaml-label", "POSITIVE", "sentiment: POSITIVE", "yaml", "equivalent"),
    ("yaml-other-label", "POSITIVE", "sentiment: NEGATIVE", "yaml", "deviation"),
    ("yaml-back", NESTED_YAML, NESTED, "json", "equivalent"),
    ("yaml-is-json", ORDER, ORDER, "yaml", "equivalent"),
    (
        "yaml-broken",
        ORDER,
        "customer: Ada Lovelace\n   order_number: 4711\n paid: [true",
        "yaml",
        "deviation",
    ),
    (
        "yaml-block-text",
        '{"title": "Rain", "text": "It rained all day. The river rose."}',
        "title: Rain\ntext: >\n  It rained all day.\n  The river rose.",
        "yaml",
        "equivalent",
    ),
    ("yaml-comment", '{"a": 1, "b": 2}', "# the answer\na: 1\nb: 2  # two", "yaml", "equivalent"),
    # JSON against XML
    (
        "xml-flat",
        ORDER,
        (
            "<order><customer>Ada Lovelace</customer><order_number>4711</order_number><paid>true</paid>"
            "<items><item>lamp</item><item>desk</item></items></order>"
        ),
        "xml",
        "equivalent",
    ),
    (
        "xml-camel",
        ORDER,
        (
            '<?xml version="1.0" encoding="UTF-8"?>\n<response>\n  <customer>Ada Lovelace</customer>\n  <orderNumber>4711'
            "</orderNumber>\n  <paid>true</paid>\n  <items>\n    <item>lamp</item>\n    <item>desk</item>\n  </items>\n"
            "</response>"
        ),
        "xml",
        "equivalent",
    ),
    (
        "xml-repeated",
        ORDER,
        (
            "<order><customer>Ada Lovelace</customer><order_number>4711</order_number><paid>true</paid>"
            "<items>lamp</items><items>desk</items></order>"
        ),
        "xml",
        "equivalent",
    ),
    (
        "xml-attributes",
        '{"name": "Ada", "age": 36}',
        '<person name="Ada" age="36"/>',
        "xml",
        "equivalent",
    ),
    (
        "xml-wrong-name",
        ORDER,
        (
            "<order><customer>Alan Turing</customer><order_number>4711</order_number><paid>true</paid>"
            "<items><item>lamp</item><item>desk</item></items></order>"
        ),
        "xml",
        "deviation",
    ),
    ("xml-broken", '{"name": "Ada"}', "<person><name>Ada</person>", "xml", "deviation"),
    ("xml-not-xml", '{"name": "Ada"}', "The name is Ada.", "xml", "deviation"),
    (
        "xml-people",
        PEOPLE,
        "<people><person><name>Ada</name><age>36</age></person><person><name>Alan</name><age>41</age></person></people>",
        "xml",
        "equivalent",
    ),
    (
        "xml-one-item",
        '{"tags": ["urgent"]}',
        "<result><tags><tag>urgent</tag></tags></result>",
        "xml",
        "equivalent",
    ),
    ("xml-label", "BILLING", "<label>BILLING</label>", "xml", "equivalent"),
    ("xml-label-other", "BILLING", "<label>SHIPPING</label>", "xml", "deviation"),
    (
        "xml-fenced",
        '{"name": "Ada & Co", "age": 36}',
        "```xml\n<r><name>Ada &amp; Co</name><age>36</age></r>\n```",
        "xml",
        "equivalent",
    ),
    (
        "xml-null",
        NESTED,
        "<r><invoice><total>99.5</total><currency>EUR</currency><due>2024-03-14</due></invoice><notes/></r>",
        "xml",
        "equivalent",
    ),
    ("xml-bomb", '{"a": "x"}', '<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>', "xml", "deviation"),
    ("xml-talk", '{"name": "Ada"}', "Here you are:\n\n<person><name>Ada</name></person>", "xml", "minor"),
    # HTML
    (
        "html-dl",
        '{"name": "Ada", "age": 36}',
        "<dl><dt>Name</dt><dd>Ada</dd><dt>Age</dt><dd>36</dd></dl>",
        "html",
        "equivalent",
    ),
    (
        "html-table",
        PEOPLE,
        "<table><tr><th>Name</th><th>Age</th></tr><tr><td>Ada</td><td>36</td></tr><tr><td>Alan</td><td>41</td></tr></table>",
        "html",
        "equivalent",
    ),
    (
        "html-table-wrong",
        PEOPLE,
        "<table><tr><th>Name</th><th>Age</th></tr><tr><td>Ada</td><td>41</td></tr><tr><td>Alan</td><td>36</td></tr></table>",
        "html",
        "deviation",
    ),
    (
        "html-paragraphs",
        '{"name": "Ada", "age": 36}',
        "<div><p><strong>Name:</strong> Ada</p><p><strong>Age:</strong> 36</p></div>",
        "html",
        "equivalent",
    ),
    ("html-list", '["lamp", "desk"]', "<ul>\n<li>lamp</li>\n<li>desk</li>\n</ul>", "html", "equivalent"),
    ("html-list-lost", '["lamp", "desk"]', "<ul>\n<li>lamp</li>\n</ul>", "html", "deviation"),
    (
        "html-prose",
        "The parcel left Berlin on Monday and will arrive on Thursday.",
        "<p>The parcel left <b>Berlin</b> on Monday and will arrive on Thursday.</p>",
        "html",
        "equivalent",
    ),
    (
        "html-prose-negated",
        "The refund is approved for this customer.",
        "<p>The refund is not approved for this customer.</p>",
        "html",
        "deviation",
    ),
    (
        "html-document",
        "POSITIVE",
        "<!DOCTYPE html>\n<html><head><title>Answer</title></head><body><p>POSITIVE</p></body></html>",
        "html",
        "equivalent",
    ),
    ("html-none", '{"name": "Ada"}', "Name: Ada", "html", "deviation"),
    # Markdown
    (
        "md-fields",
        '{"name": "Ada", "order_number": 4711}',
        "- **Name:** Ada\n- **Order number:** 4711",
        "markdown",
        "equivalent",
    ),
    (
        "md-fields-wrong",
        '{"name": "Ada", "order_number": 4711}',
        "- **Name:** Ada\n- **Order number:** 4117",
        "markdown",
        "deviation",
    ),
    (
        "md-table",
        PEOPLE,
        "| Name | Age |\n|---|---|\n| Ada | 36 |\n| Alan | 41 |",
        "markdown",
        "equivalent",
    ),
    (
        "md-field-table",
        '{"name": "Ada", "age": 36}',
        "| Field | Value |\n| --- | --- |\n| name | Ada |\n| age | 36 |",
        "markdown",
        "equivalent",
    ),
    ("md-list", '["lamp", "desk"]', "1. lamp\n2. desk", "markdown", "equivalent"),
    ("md-list-other", '["lamp", "desk"]', "- lamp\n- chair", "markdown", "deviation"),
    (
        "md-nested",
        ORDER,
        "## Order\n\n- **Customer:** Ada Lovelace\n- **Order number:** 4711\n- **Paid:** Yes\n- **Items:**\n  - lamp\n  - desk",
        "markdown",
        "equivalent",
    ),
    (
        "md-nested-not-paid",
        ORDER,
        "## Order\n\n- **Customer:** Ada Lovelace\n- **Order number:** 4711\n- **Paid:** No\n- **Items:**\n  - lamp\n  - desk",
        "markdown",
        "deviation",
    ),
    (
        "md-headings",
        '{"pros": ["fast", "cheap"], "cons": ["loud"]}',
        "# Pros\n- fast\n- cheap\n\n# Cons\n- loud",
        "markdown",
        "equivalent",
    ),
    (
        "md-headings-swapped",
        '{"pros": ["fast", "cheap"], "cons": ["loud"]}',
        "# Cons\n- fast\n- cheap\n\n# Pros\n- loud",
        "markdown",
        "deviation",
    ),
    (
        "md-inline-list",
        '{"name": "Ada", "tags": ["urgent", "vip"]}',
        "**Name:** Ada\n**Tags:** urgent, vip",
        "markdown",
        "equivalent",
    ),
    (
        "md-prose",
        "The parcel left Berlin on Monday and will arrive on Thursday.",
        "**The parcel** left Berlin on *Monday* and will arrive on Thursday.",
        "markdown",
        "equivalent",
    ),
    ("md-label", "POSITIVE", "**POSITIVE**", "markdown", "equivalent"),
    ("md-money", '{"total": 1250.5}', "**Total:** $1,250.50", "markdown", "minor"),
    # Free text
    (
        "text-fields",
        '{"name": "Ada", "order_number": 4711}',
        "Name: Ada\nOrder number: 4711",
        "text",
        "equivalent",
    ),
    (
        "text-prose",
        '{"name": "Ada", "order_number": 4711}',
        "The name is Ada and the order number is 4711.",
        "text",
        "equivalent",
    ),
    (
        "text-prose-wrong",
        '{"name": "Ada", "order_number": 4711}',
        "The name is Ada and the order number is 4811.",
        "text",
        "deviation",
    ),
    (
        "text-prose-swapped",
        '{"sender": "Ada", "receiver": "Bob"}',
        "The sender is Bob and the receiver is Ada.",
        "text",
        "deviation",
    ),
    ("text-label", '{"label": "POSITIVE"}', "POSITIVE", "text", "equivalent"),
    ("text-label-sentence", '{"label": "POSITIVE"}', "The label is POSITIVE.", "text", "equivalent"),
    ("text-label-other", '{"label": "POSITIVE"}', "NEGATIVE", "text", "deviation"),
    ("text-still-json", '{"name": "Ada"}', '{"name": "Ada"}', "text", "deviation"),
    (
        "text-vague",
        '{"spam": true, "score": 0.9}',
        "I would call this message unwanted advertising.",
        "text",
        "undecided",
    ),
    ("text-from-markdown", "- lamp\n- desk", "lamp\ndesk", "text", "equivalent"),
    # to JSON
    (
        "json-from-prose",
        "The parcel left Berlin on Monday and will arrive on Thursday.",
        '{"answer": "The parcel left Berlin on Monday and will arrive on Thursday."}',
        "json",
        "equivalent",
    ),
    (
        "json-from-prose-wrong",
        "The parcel left Berlin on Monday and will arrive on Thursday.",
        '{"answer": "The parcel left Berlin on Monday and will not arrive on Thursday."}',
        "json",
        "deviation",
    ),
    ("json-label", "NEUTRAL", '{"sentiment": "NEUTRAL"}', "json", "equivalent"),
    ("json-label-other", "NEUTRAL", '{"sentiment": "POSITIVE"}', "json", "deviation"),
    ("json-label-more", "NEUTRAL", '{"sentiment": "NEUTRAL", "confidence": 0.9}', "json", "minor"),
    ("json-string", "NEUTRAL", '"NEUTRAL"', "json", "equivalent"),
    ("json-fenced", "NEUTRAL", '```json\n{"label": "NEUTRAL"}\n```', "json", "equivalent"),
    ("json-talk", "NEUTRAL", 'Sure! Here is the JSON:\n{"label": "NEUTRAL"}', "json", "minor"),
    ("json-not", "NEUTRAL", "NEUTRAL", "json", "deviation"),
    ("json-broken", "NEUTRAL", '{"label": "NEUTRAL"', "json", "deviation"),
    (
        "json-from-list",
        "1. Reset the router\n2. Call support",
        '{"steps": ["Reset the router", "Call support"]}',
        "json",
        "equivalent",
    ),
    (
        "json-from-fields",
        "Name: Ada\nAge: 36",
        '{"name": "Ada", "age": 36}',
        "json",
        "equivalent",
    ),
    ("json-from-fields-wrong", "Name: Ada\nAge: 36", '{"name": "Ada", "age": 63}', "json", "deviation"),
    ("json-other-keys", '{"error": "Ada"}', "label: Ada", "yaml", "deviation"),
    # nothing asked for is known: the format is found, and never held against the answer
    (
        "unknown-yaml",
        ORDER,
        "customer: Ada Lovelace\norder_number: 4711\npaid: true\nitems:\n  - lamp\n  - desk",
        None,
        "equivalent",
    ),
    ("unknown-markdown", '{"name": "Ada"}', "**Name:** Ada", None, "equivalent"),
    ("unknown-wrong", '{"name": "Ada"}', "**Name:** Alan", None, "deviation"),
    ("refusal", '{"name": "Ada"}', "I'm sorry, but I cannot help with that.", "text", "deviation"),
    ("empty", '{"name": "Ada"}', "", "yaml", "deviation"),
]
