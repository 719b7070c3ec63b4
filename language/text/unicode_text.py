"""Texts from outside that are no Unicode: half a surrogate pair, which JSON may bring."""


def is_unicode(text: str) -> bool:
    """Whether a text can be written anywhere; tokenizers and sockets raise for others."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
