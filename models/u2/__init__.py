"""U2 and U2++: a streaming encoder, a CTC head and an attention decoder."""
