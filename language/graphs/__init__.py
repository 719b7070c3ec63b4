"""How decoding graphs are made: of an n-gram and a lexicon, or of what Kaldi's tools made.

Building needs kaldifst (``pip install 'earshot-asr[graph]'``); reading what was built does not.
"""
