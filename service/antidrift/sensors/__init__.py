"""Who says which window has the focus. Each module is one source; they do not know each other."""
