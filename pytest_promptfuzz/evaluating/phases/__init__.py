"""The phases of one evaluation, from its plan to its verdict."""
