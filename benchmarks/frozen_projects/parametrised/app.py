"""The application."""

PROMPTS = {
    "triage": "Classify the ticket as billing, shipping or technical. Answer with one word only.\n\nTicket: My parcel is lost."
}
