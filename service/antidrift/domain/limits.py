"""Every bound and every period in one place. Lengths are in characters, periods in seconds."""

FIELD_CHARS = 500  # next action, success condition, intent
TITLE_CHARS = 1000
CLASS_CHARS = 128
ALLOWED_CLASSES = 64
TIMEBOX_MIN_SECS = 1
TIMEBOX_MAX_SECS = 24 * 3600
RECENT_MAX = 50  # summaries a client may ask for
HISTORY = 5  # summaries that ground a review

BUCKET_TITLE_CHARS = 160
BUCKETS = 200  # distinct (class, title) pairs of one session; the rest share one bucket
BUCKETS_SHOWN = 20
SUMMARY_BUCKETS = 20
TAKE_BACK_SECS = 3700.0  # how far back an absence may be dated: the longest idle time that can be set, and some
TAKE_BACK_STRETCHES = 512
VERDICTS = 512
PRIVATE_WINDOWS = 256  # ids that are remembered

NUDGE_TITLES = 10
NUDGE_MIN_TITLES = 2
INTERRUPT_AFTER_SECS = 8.0
INTERRUPT_EVERY_SECS = 180.0
LAST_DRIFT_SECS = 60.0  # how long OnTask and Refocus still mean the window that drifted last

BREAKER_FAILURES = 3
BREAKER_FIRST_SECS = 300.0
BREAKER_MAX_SECS = 3600.0
