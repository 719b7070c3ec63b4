"""Work that fails half way, once."""


def break_once(monkeypatch, owner, name, at, *, after=False):
    """One call fails, before its work or after it; returns all calls."""
    whole, calls = getattr(owner, name), []

    def failing(*arguments, **named):
        calls.append(arguments)
        fails = len(calls) == at
        if fails and not after:
            raise RuntimeError("half way")
        found = whole(*arguments, **named)
        if fails:
            raise RuntimeError("half way")
        return found

    monkeypatch.setattr(owner, name, failing)
    return calls
