"""The n-grams of a small ARPA file, which both of its readers are tested with."""

SECTIONS = r"""
\1-grams:
-99	<s>	-0.5
-1.0 </s>
-0.25	a	0.125
-inf	naïve

\2-grams:
-0.5	<s> a
-0.75 a </s>

\end\
what follows is not read
"""
"""Behind what a file announces."""
