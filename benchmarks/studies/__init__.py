"""Studies that take hours: each is one command, goes on when it is interrupted, and writes the table that it is for."""
