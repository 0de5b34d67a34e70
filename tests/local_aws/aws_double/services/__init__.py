"""What the double adds to, or has instead of, the service APIs of moto; one module a service."""
