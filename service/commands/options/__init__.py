"""What commands share: flags, console."""
