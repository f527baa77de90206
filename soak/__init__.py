"""What AntiDrift endures, shown. See README.md beside this file."""
