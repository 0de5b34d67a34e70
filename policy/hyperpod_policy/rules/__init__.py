"""The rules, one a module, by concern."""
