"""KenLM's costs of queries, for `lm_lookup.py`: run by a Python that has KenLM.

Takes the model, the queries (a line of words each, the last after the others) and the file of costs
to write: natural logarithms, negative, (Q,) float64.
"""

import array
import math
import sys
import time
from pathlib import Path

import kenlm


def main() -> None:
    """Write what each query's last word costs after the others."""
    arpa, queries, out = sys.argv[1:]
    model = kenlm.Model(arpa)
    started, after = kenlm.State(), kenlm.State()
    costs = array.array("d")
    begin = time.perf_counter()
    with Path(queries).open(encoding="utf-8") as lines:
        for line in lines:
            state = kenlm.State()
            model.NullContextWrite(state)
            for word in line.split():
                log10 = model.BaseScore(state, word, after)
                started, state, after = state, after, started
            costs.append(-log10 * math.log(10.0))
    print(f"{len(costs)} queries in {time.perf_counter() - begin:.1f} s")
    Path(out).write_bytes(costs.tobytes())


if __name__ == "__main__":
    main()
