"""Studies: how models compare, over data, under changes of their prompts."""
