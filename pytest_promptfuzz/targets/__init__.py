"""What is called: models behind their SDKs, the simulated model, the application's own function."""
