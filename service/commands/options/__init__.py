"""Options that commands share: flags, console."""
