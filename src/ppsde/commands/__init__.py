"""What the command line does, one file per group of commands."""
