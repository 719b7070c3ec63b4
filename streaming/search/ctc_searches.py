"""The searches of one engine over a CTC head, with the memory that all its streams may need."""

from dataclasses import replace

import torch

from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.boosting.boost_capacity import boost_capacity
from earshot.streaming.engine_config import EngineConfig, engine_threads
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.graph_search import WfstDecoder
from earshot.streaming.search.search import Search
from earshot.streaming.search.token_searches import GreedyDecoder, PrefixBeamDecoder
from earshot.streaming.words.graph_words import GraphWords

ENTRIES_PER_TOKEN = 32
"""Keys that a frame reaches before it is pruned, for each token that survives; twice the ways."""


def build_searches(
    network: CtcNetwork,
    tokenizer: Tokenizer,
    words: GraphWords | None,
    config: EngineConfig,
    *,
    vocab_size: int,
    max_segment_frames: int,
    device: torch.device,
    second_pass: bool = True,
) -> dict[str, Search]:
    """Greedy and prefix search, and that of a graph where there is one. Raises KernelError.

    vocab_size: V of the network's log-probabilities, the blank among them. max_segment_frames: of
    its encoder frames, see `StreamSettings`. device: where the searches' slots will be.
    second_pass: whether one may choose others of a final's hypotheses than the first.

    All of them at once: a stream may ask for any mode, in the midst of its audio too, and what is
    first built then may find no memory. A slot of prefix search takes 83 KB beside the graph
    search's 1.15 MB, greedy search none.
    """
    prefix = PrefixSearch(
        PrefixSearchConfig(
            beam_size=config.beam_size,
            token_beam=config.token_beam,
            blank_id=network.blank_id,
            node_capacity=max(2048, 4 * max_segment_frames),
            boost_capacity=boost_capacity(config),
            workers=engine_threads(config),
        ),
        config.max_streams,
        vocab_size,
        device,
    )
    searches: dict[str, Search] = {
        "prefix": PrefixBeamDecoder(network, prefix, tokenizer),
        "greedy": GreedyDecoder(network, tokenizer),
    }
    if words is not None:
        sizes = graph_search_sizes(config)
        if device.type == "cpu":  # whose workers have memos of their own
            sizes = replace(sizes, lm_cache_bytes=0)
        wfst = WfstSearch(words.graph, sizes, config.max_streams, device)
        rescored = config.beam_size if second_pass else 0
        searches["graph"] = WfstDecoder(network, wfst, words, config.graph_search, rescored)
    return searches


def graph_search_sizes(config: EngineConfig) -> WfstSearchConfig:
    """What the search of a graph takes for all streams, and for each thread that searches."""
    asked = config.graph_search
    entries = ENTRIES_PER_TOKEN * max(asked.max_active, 2048)
    return WfstSearchConfig(
        max_tokens=asked.max_active,
        backpointer_capacity=asked.backpointers_per_token * asked.max_active,
        entry_capacity=entries,
        candidate_capacity=2 * entries,
        boost_capacity=boost_capacity(config),
        oov_capacity=boost_capacity(config),
        lm_cache_bytes=(asked.lm_cache_mb << 20) if asked.lm_in_search else 0,
        workers=engine_threads(config),
    )
