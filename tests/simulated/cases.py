"""Prompts in many phrasings with the answer any careful reader would give."""

from __future__ import annotations

# (name, system message or "", user message, exact answer)
LABELS = [
    ("review-colon", "", "Classify this review as positive or negative: The food was cold and the waiter was rude.", "negative"),
    ("bare-list", "", "Is the sentiment of this tweet POSITIVE, NEGATIVE or NEUTRAL? Reply with one word only.\n\nTweet: Just landed in Denver.", "NEUTRAL"),
    ("triage-slot", "", "You triage support tickets. Sort the ticket below into one of these categories: billing, technical, account, other. Respond with only the category name.\n\nTicket:\nI was charged twice for my March invoice and want my money back.", "billing"),
    ("triage-system", "You are a support agent. Classify each message into exactly one category: billing, technical, shipping. Reply with the category only.", "My parcel still has not arrived, tracking says it is in transit since Monday", "shipping"),
    ("bullets-defined", "", 'Assign the customer email to a queue.\n\nQueues:\n- Payments: invoices, charges, refunds\n- Bugs: errors, crashes, broken features\n- Accounts: login, password, profile\n\nAnswer with the queue name and nothing else.\n\nEmail:\n"""\nThe app crashes every time I open the settings page.\n"""', "Bugs"),
    ("numbered", "", "Categories:\n1. Sports\n2. Politics\n3. Technology\n\nWhich category fits the headline best? Only output the category.\n\nHeadline: Parliament votes on new election law as minister resigns", "Politics"),
    ("xml", "", "<instructions>Determine whether the text in the review tag is positive, negative, or mixed. Output only the label.</instructions>\n<review>Absolutely wonderful stay, great staff and a lovely room.</review>", "positive"),
    ("slash", "", "Label the following message spam/ham. Output just the label.\n\nMessage: CONGRATULATIONS! You won a free cruise. Click now to claim your prize!!!", "spam"),
    ("pipes", "", "Return one of [positive|negative|neutral] for the text.\n\nText: I hate waiting on hold for hours.", "negative"),
    ("quoted-labels", "", "Please label the urgency of this request as 'high', 'medium' or 'low'. Answer with a single word.\n\nRequest: Production is down and no customer can log in, fix this immediately!", "high"),
    ("yes-no", "", "Does the customer ask for a refund? Answer yes or no.\n\nCustomer: I would like my money back, the blender arrived broken.", "yes"),
    ("yes-no-2", "", "Read the email and decide whether the sender is complaining. Answer only yes or no.\n\nEmail: Thank you so much, the new chairs are perfect!", "no"),
    ("intent-snake", "", "Detect the intent of the user message. Possible intents: order_status, cancel_order, refund_request. Only return the intent.\n\nUser message: Please cancel my order, I no longer need it.", "cancel_order"),
    ("emotion", "", "What emotion does the writer express? Choose from joy, anger, fear, sadness. Just give the emotion.\n\nText: I am so scared, there is someone outside and I am shaking.", "fear"),
    ("not-urgent", "", "Mark the ticket as urgent or not urgent. Return only the label.\n\nTicket: Just wondering whether you plan a dark mode someday, no rush.", "not urgent"),
    ("prefixed", "", "Text: The plot was boring and the acting was terrible.\n\nClassify the sentiment of the text above as positive or negative. Answer with the label only.", "negative"),
    ("few-shot", "", "Classify the sentiment.\n\nText: I love it\nSentiment: happy\n\nText: This is awful\nSentiment: unhappy\n\nText: Great value and wonderful service\nSentiment:", "happy"),
    ("topic", "", "Pick the topic of the article from the list: business, sports, science, health. Give only the topic.\n\nArticle: Researchers used a telescope to discover a distant planet orbiting two stars.", "science"),
    ("department-either", "", "Route this message to either Sales or Support. Reply with the department name only.\n\nMessage: How much does the enterprise plan cost for 50 seats? I would like a quote.", "Sales"),
    ("markdown", "# Task\nCategorize the ticket.\n\n# Categories\n- **billing**\n- **technical**\n- **feature_request**\n\n# Output\nRespond with the category name only.", "It would be great if you could add an export to CSV option.", "feature_request"),
    ("yes-positive", "", "Is the following review positive? Answer yes or no only.\n\nReview: Not worth the price, I regret buying it.", "no"),
    ("typos", "", "Clasify the sentimnet of the folowing text as positive, negative or neutral. Retrun only the label.\n\nText: What a fantastic, helpful team!", "positive"),
    ("negated", "", "Classify as positive or negative. Only return the label.\n\nText: The screen is not good and does not work.", "negative"),
    ("paren-def", "", "Classify the ticket as billing (payments, invoices), technical (errors, outages) or other. Return the label only.\n\nTicket: I get a 500 error whenever I upload a file.", "technical"),
    ("other", "", "Classify the ticket as billing, technical or other. Return the label only.\n\nTicket: Do you know a good bakery around here?", "other"),
    ("toxic", "", "Decide if the comment is toxic or non-toxic. Respond with just one of the two labels.\n\nComment: You are a stupid idiot and nobody likes you.", "toxic"),
    ("json-enum-prose", "", "Your job is to tag feedback. The allowed tags are: bug, praise, question. Write only the tag.\n\nFeedback: How do I change my avatar?", "question"),
    ("options-slashes", "", 'Sentiment analysis task. Options: positive / neutral / negative.\nInput: "The battery died after an hour and support was useless."\nOutput:', "negative"),
    ("exactly-one-of", "", "Decide whether the following email is spam or not spam. Reply with exactly one of: spam, not spam.\n\nEmail: Limited offer!!! Claim your cash prize at http://win.example now", "spam"),
    ("priorities-coded", "", "Triage the incident. Priorities:\n- P1: full outage, data loss\n- P2: degraded performance\n- P3: cosmetic issue\n\nAnswer with the priority code only.\n\nIncident: Complete outage of the checkout, nobody can pay.", "P1"),
    ("brackets", "", "You will be given a customer message. Your task is to pick the best matching intent from [refund, exchange, complaint, other]. Output the intent and nothing else.\n\nCustomer message: I want my money back for these shoes", "refund"),
    ("true-false", "", "Answer True or False: does the text mention a delay?\n\nText: The train was delayed by two hours.", "True"),
    ("question-header", "", "Text: The meeting moved to Friday.\nQuestion: Is the author angry? Answer yes or no.", "no"),
    ("one-word-fragment", "", "Here is a product review:\n\nThis kettle is superb, boils fast and looks gorgeous.\n\nWould you say it is positive or negative? One word.", "positive"),
    ("parenthesised", "", "Label this headline with a topic (sports, finance, weather).\nHeadline: Striker scores twice as team wins cup final", "sports"),
    ("inline-capitals", "", "Respond with HAPPY or SAD depending on the mood of the message.\nMessage: I finally got the promotion, I'm thrilled!", "HAPPY"),
    ("arrow-pipes", "", "Classify support ticket -> billing | technical | sales\nTicket: The website shows an error when I log in.", "technical"),
    ("quoted-pair", "", 'Is this comment toxic? Return "toxic" or "ok".\nComment: you are all idiots', "toxic"),
    ("emotions-list", "", "Identify the main emotion in the tweet. Emotions: joy, sadness, anger. Return only one emotion.\n\nTweet: I am furious, this is outrageous!!", "anger"),
]  # fmt: skip

# (name, system, user, the JSON object)
OBJECTS = [
    ("fields", "", "Extract the name, email and order number from the message and return JSON.\n\nMessage: Hi, my name is Anna Weber, order #48213 never came. Write me at anna.weber@example.com", {"name": "Anna Weber", "email": "anna.weber@example.com", "order_number": "48213"}),
    ("shape", "", 'Extract the details as JSON like this:\n{"date": "", "amount": "", "company": ""}\n\nText: On 2024-03-05 we paid $1,250.00 to Globex Corporation.', {"date": "2024-03-05", "amount": "$1,250.00", "company": "Globex Corporation"}),
    ("bulleted", "", "Pull these fields out of the email as a JSON object:\n- customer_name\n- phone\n- order_number\n\nEmail: Hello, this is Peter Novak. My order is 48213. Call me on +44 20 7946 0958.", {"customer_name": "Peter Novak", "phone": "+44 20 7946 0958", "order_number": "48213"}),
    ("missing", "", "Extract the email and the phone number as JSON. Use null for what is missing.\n\nText: Reach me at joe@site.org.", {"email": "joe@site.org", "phone_number": None}),
    ("plural", "", 'List all email addresses in the text as JSON with the key "emails".\n\nText: Ask a@x.com or b@y.org.', {"emails": ["a@x.com", "b@y.org"]}),
    ("classify-json", "", 'Classify the sentiment as positive or negative and answer as a JSON object with the key "sentiment".\n\nText: I love this phone.', {"sentiment": "positive"}),
    ("invoice", "You extract data from invoices. Return a JSON object with the keys invoice_number, total and due_date.", "Invoice INV-2093. Total: $312.40. Due date: 12 May 2025.", {"invoice_number": "INV-2093", "total": "$312.40", "due_date": "12 May 2025"}),
]  # fmt: skip

# (name, system, user, texts that the query must hold, texts it must not)
QUERIES = [
    ("since", "", "Write a SQL query for employees hired after 2020-05-01 in the 'Finance' department. Table: employees(id, name, department, hire_date)", ["SELECT *", "FROM employees", "hire_date > '2020-05-01' AND department = 'Finance'"], []),
    ("no-schema", "", "Write a SQL query to get the emails of all users older than 30.", ["SELECT email", "FROM users", "age > 30"], []),
    ("schema", "", "Write a SQL query that lists the names of employees in Berlin.\n\nSchema: employees(id, name, city, salary)\n\nReturn only the SQL.", ["SELECT name", "FROM employees", "city = 'Berlin'"], ["JOIN"]),
    ("create", "You translate questions into SQL.\n\nCREATE TABLE orders (id INT, customer_id INT, total DECIMAL(10,2), created_at DATE);\nCREATE TABLE customers (id INT PRIMARY KEY, name TEXT, country TEXT);", "How many customers are from Germany?", ["SELECT COUNT(*)", "FROM customers", "country = 'Germany'"], ["JOIN"]),
    ("days", "", "Convert the request to SQL. Output only SQL.\n\nRequest: all orders placed in the last 7 days", ["FROM orders", "INTERVAL '7 DAY'"], ["JOIN"]),
    ("group", "", "Write SQL for: number of orders per country\n\nTables:\n- orders: id, country, total", ["COUNT(*)", "FROM orders", "GROUP BY country"], []),
    ("greater", "", "Create a SQL query: list all products with price greater than 100", ["FROM products", "price > 100"], []),
]  # fmt: skip

REPORT = (
    "Solar power grew faster than any other source of electricity last year. New installations rose by 40% as panel prices fell. "
    "China built more than half of the new panels. Grid operators warn that storage is not keeping up with solar power. "
    "Several countries now plan large batteries. Analysts expect solar electricity to double again by 2030."
)
# (name, user message, sentences, most words, bullets)
SUMMARIES = [
    ("one", f"Summarize the following article in one sentence.\n\n{REPORT}", 1, None, 0),
    ("two", f"Please write a summary of this text in 2 sentences:\n\n{REPORT}", 2, None, 0),
    ("words", f"Summarise the article in at most 20 words.\n\nArticle: {REPORT}", None, 20, 0),
    ("bullets", f"Condense the text into three bullet points.\n\nText:\n{REPORT}", None, None, 3),
    ("tldr", f"{REPORT}\n\nTL;DR in one sentence", 1, None, 0),
    ("between", f"Give me a short summary (2-3 sentences) of the report below.\n\n---\n{REPORT}\n---", 2, None, 0),
]  # fmt: skip
