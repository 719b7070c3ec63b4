"""Claim: on one core our graph search is faster than Kaldi's and flashlight's, and no worse.

``pip install kaldi-decoder kaldifst flashlight-text``, then ``python -m
benchmarks.search.wfst_search CACHE --arpa LM.arpa.gz``. ``CACHE`` is a folder that keeps the graph
of that model. KenLM makes a model of any text: ``lmplz -o 3 --limit_vocab_file WORDS --prune 0 2 4
< TEXT | gzip > LM.arpa.gz``. Leaves ``CACHE/real.npz``, the posteriors, for machines without the
recordings.

Kaldi's decoders and ours get the same TLG, posteriors and beam, and the costs of the best paths are
compared; ours searches it as it is, and as ``earshot graph import`` stores it. flashlight gets the
same language model; its beam is of another kind, so settings of both are compared by error rate.
All in one process with one thread; the decoders take turns at each utterance; times are of the CPU,
of the fastest round.
"""

import argparse
from pathlib import Path

import torch

from benchmarks.report import SHARED, table, write_report
from benchmarks.wfst.arms import EQUAL_NATS
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.graph_files import GraphFiles
from benchmarks.wfst.posteriors import save, simulated, total_frames
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model

try:
    from benchmarks.peers import against_flashlight, against_kaldi
except ModuleNotFoundError as error:
    raise SystemExit(
        f"{error.name} is missing: pip install kaldi-decoder kaldifst flashlight-text"
    ) from error

SCALES = (0.2, 0.3)
READ_CORPORA = ("coffee", "librispeech", "speechocean")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cache", type=Path, help="folder for the graph of this language model")
    parser.add_argument("--arpa", type=Path, required=True)
    parser.add_argument("--words", type=Path, help="build only these words of it")
    parser.add_argument("--count", type=int, default=8, help="simulated utterances")
    parser.add_argument("--real", type=int, default=15, help="recordings of each corpus")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Run it and write docs/benchmarks/wfst_search.md."""
    options = arguments()
    torch.set_num_threads(1)
    files = GraphFiles(options.cache, options.arpa, options.words, units="tokens")
    loaded = load_model(bundled_model_dir())
    manifest = SHARED / "speech" / "dev.tsv"
    real = posteriors(loaded, recordings(manifest, options.real, options.seed, READ_CORPORA))
    save(options.cache / "real.npz", real)
    graph = files.compact()
    made = simulated(graph, options.count, words=20, seed=options.seed)
    some = real[:: max(1, len(real) // options.count)][: options.count]
    frame_ms = 10.0 * loaded.model.encoder.subsampling_rate
    comparison = against_kaldi.KaldiComparison(files)
    kaldi_rows = [
        *comparison.rows("simulated", made, frame_ms, options.rounds),
        *comparison.rows("bundled model", some, frame_ms, options.rounds),
    ]
    spellings = {text: loaded.tokenizer.encode(text) for text in graph.word_texts[1:]}
    lexicon = against_flashlight.FlashlightComparison(options.arpa, graph, spellings, real)
    flashlight_rows = [row for scale in SCALES for row in lexicon.rows(scale)]
    body = f"""
Graph: {graph.num_nodes:,} nodes and {graph.num_arcs:,} arcs implicit, {len(spellings):,} words,
{graph.vocab_size} units. One core, one stream; frames of {frame_ms:g} ms.

## Against kaldi-decoder

{len(made)} simulated utterances of {total_frames(made)} frames, with the peaky posteriors of a good
model; {len(some)} recordings of {total_frames(some)} frames, with the flat ones of the bundled
model. The fastest of {options.rounds} rounds. Ours takes chunks of {against_kaldi.CHUNK_FRAMES}
frames unless "whole" is said, and searches the file that FasterDecoder reads: "explicit" as it is,
"imported" as `earshot graph import` stores it, with the CTC rule taken out of the arcs and left to
the search ([decision 0082](../decisions/0082-tlg-to-lg.md)); "alternatives" within
{against_kaldi.LATTICE_BEAM:g} nats. FasterDecoder keeps none; LatticeSimpleDecoder knows no
max_active. A path is *equal* within {EQUAL_NATS} nats of FasterDecoder's, *cheaper* is better.
Frames are *lost* where a word or an alternative found no room.

{table(against_kaldi.HEADER, kaldi_rows)}

## Against flashlight-text

{len(real)} recordings of {total_frames(real)} frames ({", ".join(READ_CORPORA)}), decoded whole,
the language model's costs multiplied by *scale*. Beams of flashlight are hypotheses / tokens per
frame / threshold. Its lexicon decoder cannot stay in the last token of a word for a second frame,
so it errs more with the same model. The last column is against the fastest of our settings that
err no more.

{table(against_flashlight.HEADER, flashlight_rows)}
"""
    print(write_report("wfst_search", "Graph search against its peers on a CPU", body.lstrip()))


if __name__ == "__main__":
    main()
