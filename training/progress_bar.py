"""Bars of progress on stderr; nothing where it is no terminal, such as a log, which they fill."""

from functools import partial

from tqdm import tqdm

progress_bar = partial(tqdm, disable=None)
