"""How a transducer's head learns on an encoder that stays as it is."""
