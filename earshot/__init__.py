"""Streaming speech recognition: `earshot.service`, `earshot.streaming` and what they stand on.

In the repository the packages are folders of the top level and this one holds links to them, so
that everybody, the installed wheel and every tool, knows each module by one name.
"""
