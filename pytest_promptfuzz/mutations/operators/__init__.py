"""The built-in operators, one module a family; importing a module registers nothing by itself."""
