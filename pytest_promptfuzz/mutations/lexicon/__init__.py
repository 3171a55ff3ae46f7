"""Words and phrases the operators draw on: data, no behaviour beyond look-up."""
