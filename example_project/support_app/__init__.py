"""A small support desk: routes tickets, summarises conversations, reads orders, writes reports."""
