"""What is kept: answers on disk and in Redis, recordings; and what must never be."""
