"""Values: amounts with units, dates, names and formulas that two answers write otherwise."""
