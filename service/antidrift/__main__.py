"""`python -m antidrift` is `antidriftd`."""

import sys

from antidrift.daemon import main

sys.exit(main())
