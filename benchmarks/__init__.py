"""What AntiDrift costs, measured. See README.md beside this file."""
