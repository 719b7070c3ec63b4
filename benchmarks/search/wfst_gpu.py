"""Graph search on a GPU beside its peers: not yet run to its end, so that nothing is claimed.

``python -m benchmarks.search.wfst_gpu --graph lm.graph`` where torch has CUDA and the CUDA half of
the kernels is compiled; ``python benchmarks/cuda/gpu_check.py --graph lm.graph --only configure
build wfst`` compiles it first. ``--posteriors real.npz`` (`wfst_search.py` leaves one) decodes real
ones beside simulated ones. Peers, each in a process of its own, and a line that says why if one
cannot run:

- Riva's: ``pip install --no-deps riva-asrlib-decoder==0.4.4``, up to Python 3.12
- torchaudio's CUDA CTC decoder, without words or a language model: ``pip install torchaudio``
- OASR: see ``benchmarks/peers/oasr.py``

The graph is a compact one; the peers get its explicit form. A piece is timed from posteriors on the
device to partial results on the host. ``--device cpu`` runs ours alone, to try the script.
"""

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch

from benchmarks.peers import cuctc, oasr, riva
from benchmarks.peers.apart import apart
from benchmarks.report import table, write_report
from benchmarks.wfst.graph_files import write_openfst, write_words
from benchmarks.wfst.load import Load, mean_load
from benchmarks.wfst.ours_streams import OurStreams
from benchmarks.wfst.posteriors import Utterance, load, simulated
from benchmarks.wfst.stream_tasks import HEADER, Found, Make, Task
from benchmarks.wfst.streams import NotRun, StreamDecoder
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions
from earshot.language.graphs.explicit import explicit_graph

CHUNK_FRAMES = 8
LATTICE_BEAM = 8.0
MEMORY_BYTES_PER_S = 3.35e12  # of an H100
SIMULATED = 40
SIMULATED_WORDS = 40
LOOKED_AT = 4  # utterances, to measure the load
LIMIT_S = 200.0
OURS, RIVA = "ours", "riva"
LOAD_HEADER = (
    "posteriors", "tokens", "arcs", "memory traffic", "us at the floor", "times real time",
)  # fmt: skip


def our_decoders(graph: Graph, explicit: Graph, options: WfstOptions) -> dict[str, Make]:
    """The one to be compared first."""
    return {
        OURS: partial(OurStreams, graph, options),
        "ours, no partial results": partial(OurStreams, graph, options, partials=False),
        "ours, explicit": partial(OurStreams, explicit, options),
    }


def peers(graph: Graph, explicit: Graph, options: WfstOptions, folder: Path) -> dict[str, Make]:
    """The one that the others are measured against first; their files lie in ``folder``."""
    fst, words, image = folder / "explicit.fst", folder / "words.txt", folder / "oasr.img"
    write_openfst(fst, explicit)
    write_words(words, graph)
    beams = options.beam, options.lattice_beam, options.max_active
    files = riva.RivaGraph(fst, words, graph.vocab_size, *beams)

    def make_oasr(streams: int, _: torch.device) -> StreamDecoder:
        if not image.exists():
            oasr.write_image(image, explicit)
        return oasr.OasrStreams(image, *beams, streams)

    return {
        RIVA: lambda streams, _: riva.RivaStreams(files, streams),
        "riva, lattices": lambda streams, _: riva.RivaFiles(files, streams),
        "cuctc, no LM": lambda *_: cuctc.CuctcFiles(graph.vocab_size, graph.blank_id),
        "OASR": make_oasr,
    }


def run_all(
    makers: dict[str, Make], tasks: Sequence[Task], device: torch.device
) -> list[dict[str, Found]]:
    """What each decoder made of each task; a process for each decoder."""
    by_task: list[dict[str, Found]] = [{} for _ in tasks]
    for name, make in makers.items():
        print(f"{name}: {len(tasks)} tasks", flush=True)
        jobs = [partial(task.run, make, device) for task in tasks]
        for found, result in zip(by_task, apart(jobs, LIMIT_S), strict=True):
            found[name] = result
    return by_task


def measured_load(graph: Graph, utterances: Sequence[Utterance], options: WfstOptions) -> Load:
    """Of some of the utterances. Ends the program if it cannot be measured."""
    [load] = apart([partial(mean_load, graph, utterances[:LOOKED_AT], options)], LIMIT_S)
    if isinstance(load, NotRun):
        raise SystemExit(f"the load could not be measured: {load}")
    return load


def floor_us(load: Load) -> float:
    """Microseconds per frame that its memory traffic takes."""
    return 1e6 * load.traffic / MEMORY_BYTES_PER_S


def load_row(what: str, load: Load, frame_ms: float) -> list[str]:
    """A line about the load."""
    return [
        what, f"{load.tokens:,.0f}", f"{load.arcs:,.0f}", f"{load.traffic / 1e3:,.0f} kB",
        f"{floor_us(load):.3f}", f"{1e3 * frame_ms / floor_us(load):,.0f}",
    ]  # fmt: skip


def long_enough(utterances: Sequence[Utterance], frames: int) -> list[Utterance]:
    """Those that have so many frames. Ends the program if there are none."""
    found = [each for each in utterances if len(each.log_probs) >= frames]
    if not found:
        raise SystemExit(f"no posteriors of {frames} frames: say --frames")
    return found


def tasks_of(
    sets: dict[str, list[Utterance]], loads: dict[str, Load], chosen: argparse.Namespace
) -> list[Task]:
    """All that is timed: each set in all numbers of streams, in pieces and whole."""
    return [
        Task(what, each, streams, chosen.frames, pieces, chosen.rounds, floor, chosen.frame_ms)
        for what, each in sets.items()
        for floor in [floor_us(loads[what])]
        for streams in chosen.streams
        for pieces in (CHUNK_FRAMES, None)
    ]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", type=Path, required=True, help="a compact compiled graph")
    parser.add_argument("--posteriors", type=Path, help=".npz of real ones")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument(
        "--streams", default="1,10,100,1000", type=lambda text: [int(n) for n in text.split(",")]
    )
    parser.add_argument(
        "--frame-ms", type=float, default=30.0, help="of sound; 30 for phones of the bundled model"
    )
    parser.add_argument("--frames", type=int, default=96, help="of each stream")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beam", type=float, default=17.0)
    parser.add_argument("--max-active", type=int, default=10_000)
    return parser.parse_args()


def main() -> None:
    """Run it; on a GPU, write docs/benchmarks/wfst_gpu.md."""
    chosen = arguments()
    torch.set_num_threads(1)
    device = torch.device(chosen.device)
    graph = read_graph(chosen.graph)
    options = WfstOptions(beam=chosen.beam, max_active=chosen.max_active, lattice_beam=LATTICE_BEAM)
    sets = {"simulated": simulated(graph, SIMULATED, SIMULATED_WORDS, seed=1)}
    if chosen.posteriors:
        sets["real"] = load(chosen.posteriors)
    sets = {what: long_enough(each, chosen.frames) for what, each in sets.items()}
    loads = {what: measured_load(graph, each, options) for what, each in sets.items()}
    tasks = tasks_of(sets, loads, chosen)
    explicit = explicit_graph(graph, "compact")
    makers = our_decoders(graph, explicit, options)
    with tempfile.TemporaryDirectory() as folder:
        if device.type == "cuda":
            makers |= peers(graph, explicit, options, Path(folder))
        results = run_all(makers, tasks, device)
    pairs = zip(tasks, results, strict=True)
    rows = [row for task, found in pairs for row in task.rows(found, OURS, RIVA)]
    name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    body = f"""
{name}. Decoder only; {chosen.frames} frames a stream; "times real time" counts a frame as
{chosen.frame_ms:g} ms. Compact graph of {graph.num_nodes:,} nodes and {graph.num_arcs:,} arcs,
{graph.vocab_size} units; beam {options.beam:g}, max_active {options.max_active:,}, lattice_beam
{options.lattice_beam:g}. Peers get the explicit form, as "ours, explicit" does. A piece is timed
for all streams together, from posteriors on the device to partial results on the host; "us per
frame" is that time by streams and frames. "riva" is its online decoder, which gives best paths
only; "riva, lattices" its offline one, which ends on CPU threads.

Load of one frame of one stream, measured on the CPU, and the time that its memory traffic takes at
{MEMORY_BYTES_PER_S / 1e12:g} TB/s if nothing of the frame before is still in a cache:

{table(LOAD_HEADER, [load_row(what, each, chosen.frame_ms) for what, each in loads.items()])}

{table(HEADER, rows)}
"""
    print(body)
    if device.type == "cuda":
        print(write_report("wfst_gpu", "Graph search against its peers on a GPU", body.lstrip()))


if __name__ == "__main__":
    main()
