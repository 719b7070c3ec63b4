"""Networks that run natively on CPUs: what they are built of, and how they are called."""
