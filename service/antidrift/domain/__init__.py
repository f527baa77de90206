"""The rules of a focus session, pure: no clock, bus, file, process or third-party library."""
