"""How a robust test runs: its engine, its body, what it declares, and the calls that are made before its turn."""
