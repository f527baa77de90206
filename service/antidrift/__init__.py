"""AntiDrift: one commitment for the next half hour, and a soft word when you drift."""

__version__ = "0.1.0"
