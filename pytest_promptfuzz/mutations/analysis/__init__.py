"""What a prompt is made of, as far as operators must know."""
