"""How a robust test runs: its engine, what it declares, and the calls that are made before its turn."""
