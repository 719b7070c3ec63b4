"""What a request asks for, in whichever protocol."""
