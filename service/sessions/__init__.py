"""Live sessions in whichever protocol: messages and events in, actions out."""
