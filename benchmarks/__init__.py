"""Speed and learning, each printed as a ratio against a named rival in the same run (``make bench``)."""
