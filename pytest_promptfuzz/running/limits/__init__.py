"""Live calls at the provider's speed and within the budget: limits, retries, prices, shared between processes."""
