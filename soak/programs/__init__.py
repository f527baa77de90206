"""The clients that strain the service over the bus: in C on sd-bus, so that they share no code with it."""
