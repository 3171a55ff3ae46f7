"""Making the calls of a sync body before it asks: how its requests follow from the prompt is learned, then foretold."""
