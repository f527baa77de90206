"""What the service looks at by itself: the focused window, where X11 shows it."""
