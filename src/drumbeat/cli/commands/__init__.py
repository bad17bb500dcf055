"""The commands, one file or folder for each noun."""
