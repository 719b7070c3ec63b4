"""`python -m earshot.service` is `earshot`."""

import sys

from earshot.service.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
