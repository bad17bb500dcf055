"""The command line: one file for each noun. `main` lists the commands and loads each when asked."""
