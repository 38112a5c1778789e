"""Studies that take hours: each is one command, which resumes when it was interrupted and writes a table of results."""
