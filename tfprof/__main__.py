"""``python -m tfprof``."""

from tfprof.cli.main import main

if __name__ == "__main__":
    main()
