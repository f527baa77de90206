"""What the tests start: real programs, each ended with the test that started it."""
