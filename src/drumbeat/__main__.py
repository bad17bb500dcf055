"""`python -m drumbeat`: the command line."""

from drumbeat.cli.main import main

if __name__ == "__main__":
    main()
