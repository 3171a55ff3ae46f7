"""The same documents in six formats, and changes that make each say something else."""

from __future__ import annotations

DOCUMENTS = {
    "order": {
        "json": '{"order": 4711, "customer": "Ada Lovelace", "paid": true, "due": "2024-03-05", "items": [{"name": "lamp", "price": 3.5}, {"name": "desk", "price": 1200}], "tags": ["urgent", "fragile"]}',
        "yaml": "order: 4711\ncustomer: Ada Lovelace\npaid: true\ndue: 2024-03-05\nitems:\n  - name: lamp\n    price: 3.5\n  - name: desk\n    price: 1200\ntags:\n  - urgent\n  - fragile",
        "xml": '<?xml version="1.0"?>\n<response>\n  <order>4711</order>\n  <customer>Ada Lovelace</customer>\n  <paid>true</paid>\n  <due>2024-03-05</due>\n  <items>\n    <item><name>lamp</name><price>3.5</price></item>\n    <item><name>desk</name><price>1200</price></item>\n  </items>\n  <tags><tag>urgent</tag><tag>fragile</tag></tags>\n</response>',
        "html": "<div><p><b>Order:</b> 4711</p><p><b>Customer:</b> Ada Lovelace</p><p><b>Paid:</b> yes</p><p><b>Due:</b> 2024-03-05</p><h3>Items</h3><table><tr><th>Name</th><th>Price</th></tr><tr><td>lamp</td><td>3.5</td></tr><tr><td>desk</td><td>1200</td></tr></table><h3>Tags</h3><ul><li>urgent</li><li>fragile</li></ul></div>",
        "markdown": "- **Order:** 4711\n- **Customer:** Ada Lovelace\n- **Paid:** yes\n- **Due:** 2024-03-05\n\n## Items\n\n| Name | Price |\n| --- | --- |\n| lamp | 3.5 |\n| desk | 1200 |\n\n## Tags\n\n- urgent\n- fragile",
        "text": "Order: 4711\nCustomer: Ada Lovelace\nPaid: yes\nDue: 2024-03-05\nItems:\n- Name: lamp\n  Price: 3.5\n- Name: desk\n  Price: 1200\nTags: urgent, fragile",
    },
    "flat": {
        "json": '{"name": "Ada", "age": 36, "city": "London", "active": false, "note": null}',
        "yaml": "name: Ada\nage: 36\ncity: London\nactive: false\nnote: null",
        "xml": '<person name="Ada" age="36" city="London" active="false" note=""/>',
        "html": "<table><tr><th>Name</th><td>Ada</td></tr><tr><th>Age</th><td>36</td></tr><tr><th>City</th><td>London</td></tr><tr><th>Active</th><td>No</td></tr><tr><th>Note</th><td></td></tr></table>",
        "markdown": "| Field | Value |\n|---|---|\n| Name | Ada |\n| Age | 36 |\n| City | London |\n| Active | No |\n| Note | - |",
        "text": "Name: Ada\nAge: 36\nCity: London\nActive: no\nNote: none",
    },
    "list": {
        "json": '["Check the cable", "Restart the router", "Call support"]',
        "yaml": "- Check the cable\n- Restart the router\n- Call support",
        "xml": "<steps><step>Check the cable</step><step>Restart the router</step><step>Call support</step></steps>",
        "html": "<ol><li>Check the cable</li><li>Restart the router</li><li>Call support</li></ol>",
        "markdown": "1. Check the cable\n2. Restart the router\n3. Call support",
        "text": "Check the cable\nRestart the router\nCall support",
    },
    "nested": {
        "json": '{"regions": [{"name": "North", "cities": ["Oslo", "Bergen"]}, {"name": "South", "cities": ["Rome", "Bari"]}]}',
        "yaml": "regions:\n  - name: North\n    cities: [Oslo, Bergen]\n  - name: South\n    cities:\n      - Rome\n      - Bari",
        "xml": '<regions><region name="North"><city>Oslo</city><city>Bergen</city></region><region name="South"><city>Rome</city><city>Bari</city></region></regions>',
        "html": "<h2>Regions</h2><ul><li>Name: North<ul><li>Cities: Oslo, Bergen</li></ul></li><li>Name: South<ul><li>Cities: Rome, Bari</li></ul></li></ul>",
        "markdown": "## Regions\n\n- **Name:** North\n  - **Cities:** Oslo, Bergen\n- **Name:** South\n  - **Cities:** Rome, Bari",
        "text": "Regions:\n- Name: North\n  Cities: Oslo, Bergen\n- Name: South\n  Cities: Rome, Bari",
    },
    "deep": {
        "json": '{"server": {"host": "a.example", "ports": {"http": 80, "https": 443}}, "debug": false}',
        "yaml": "server:\n  host: a.example\n  ports:\n    http: 80\n    https: 443\ndebug: false",
        "xml": "<config><server><host>a.example</host><ports><http>80</http><https>443</https></ports></server><debug>false</debug></config>",
        "html": "<ul><li>Server:<ul><li>Host: a.example</li><li>Ports:<ul><li>HTTP: 80</li><li>HTTPS: 443</li></ul></li></ul></li><li>Debug: no</li></ul>",
        "markdown": "- **Server:**\n  - **Host:** a.example\n  - **Ports:**\n    - **HTTP:** 80\n    - **HTTPS:** 443\n- **Debug:** no",
        "text": "Server:\n  Host: a.example\n  Ports:\n    HTTP: 80\n    HTTPS: 443\nDebug: no",
    },
}

ALTERED = {
    "order": [
        ("1200", "1300"),
        ("lamp", "lump"),
        ("true", "false"),
        ("yes", "no"),
        ("2024-03-05", "2024-05-03"),
        ("urgent", "late"),
        ("4711", "4712"),
    ],
    "flat": [("36", "63"), ("London", "Paris"), ("false", "true"), ("No", "Yes"), ("no\n", "yes\n")],
    "list": [("Restart", "Unplug")],
    "nested": [("Rome", "Milan"), ("North", "East")],
    "deep": [("443", "8443"), ("a.example", "b.example"), ("false", "true"), ("no", "yes")],
}
