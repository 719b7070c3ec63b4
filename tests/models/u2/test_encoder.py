"""The encoder against WeNet's outputs: whole utterances, chunk masks, streams and their caches."""

import pytest
import torch
from kept_frames import frames_like
from torch import Tensor

from earshot.models.errors import NotStreamable
from earshot.models.u2.encoder import Encoder

SETTINGS = [(16, -1), (16, 4), (4, -1), (4, 4), (8, 2), (16, 0)]


def run_whole(encoder: Encoder, features: Tensor, **chunks: int) -> Tensor:
    lengths = torch.tensor([features.size(1)])
    encoded, out_lengths = encoder(features, lengths, **chunks)
    assert out_lengths.tolist() == [encoded.size(1)]
    return encoded


def run_stream(
    encoder: Encoder, features: Tensor, chunk_size: int, num_left_chunks: int
) -> tuple[list[Tensor], list[tuple[Tensor, Tensor]], list[int]]:
    """Outputs, returned caches and first feature row of every chunk."""
    rate, context = encoder.subsampling_rate, encoder.right_context
    window = (chunk_size - 1) * rate + context + 1
    att_cache = cnn_cache = torch.zeros(0, 0, 0, 0)
    outputs, caches, offset = [], [], 0
    starts = list(range(0, features.size(1) - context, chunk_size * rate))
    for start in starts:
        chunk = features[:, start : start + window]
        output, att_cache, cnn_cache = encoder.forward_chunk(
            chunk, offset, chunk_size * num_left_chunks, att_cache, cnn_cache
        )
        offset += output.size(1)
        outputs.append(output)
        caches.append((att_cache, cnn_cache))
    return outputs, caches, starts


@torch.no_grad()
def test_normalises_embeds_and_places_as_wenet_does(golden, assert_same):
    encoder, features = golden.model.encoder, golden.features["A"]
    assert_same(encoder.global_cmvn(features)[:, :10], golden.arrays["A_after_cmvn_first10"])
    embedded, expected = encoder.embed_features(features, None), golden.arrays["A_after_embed"]
    assert_same(frames_like(embedded, expected), expected)


@torch.no_grad()
def test_every_layer_equals_wenets(golden, assert_same):
    encoder = golden.model.encoder
    outputs: list[Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda _layer, _args, output: outputs.append(output))
        for layer in encoder.layers
    ]
    run_whole(encoder, golden.features["A"])
    for hook in hooks:
        hook.remove()
    for index, output in enumerate(outputs):
        expected = golden.arrays[f"A_layer{index}_out"]
        assert_same(frames_like(output, expected), expected)
    assert len(outputs) == golden.model.config.encoder.num_blocks


@pytest.mark.parametrize("utterance", ["A", "B"])
@torch.no_grad()
def test_full_context_equals_wenets(golden, utterance, assert_same):
    encoded = run_whole(golden.model.encoder, golden.features[utterance])
    assert_same(encoded, golden.arrays[f"full_{utterance}"])
    log_probs = golden.model.ctc_log_probs(encoded)
    expected = golden.arrays[f"full_{utterance}_ctc_logp"]
    assert_same(log_probs, expected)


@torch.no_grad()
def test_padded_batch_equals_wenets(golden, assert_same):
    a, b = golden.features["A"][0], golden.features["B"][0]
    batch = torch.nn.utils.rnn.pad_sequence([a, b], batch_first=True)
    encoded, lengths = golden.model.encoder(batch, torch.tensor([len(a), len(b)]))
    assert lengths.tolist() == golden.arrays["batch_full_mask"].sum(dim=-1).flatten().tolist()
    assert_same(frames_like(encoded, golden.arrays["batch_full"]), golden.arrays["batch_full"])


@pytest.mark.parametrize(("chunk_size", "num_left_chunks"), SETTINGS)
@torch.no_grad()
def test_chunk_masked_utterance_equals_wenets(
    streamable_golden, chunk_size, num_left_chunks, assert_same
):
    golden = streamable_golden
    encoded = run_whole(
        golden.model.encoder,
        golden.features["A"],
        chunk_size=chunk_size,
        num_left_chunks=num_left_chunks,
    )
    expected = golden.arrays[f"masked_c{chunk_size}_l{num_left_chunks}_A"]
    assert_same(frames_like(encoded, expected), expected)


@pytest.mark.parametrize("utterance", ["A", "B"])
@pytest.mark.parametrize(("chunk_size", "num_left_chunks"), SETTINGS)
@torch.no_grad()
def test_stream_equals_wenets(
    streamable_golden, chunk_size, num_left_chunks, utterance, assert_same
):
    golden = streamable_golden
    key = f"stream_c{chunk_size}_l{num_left_chunks}_{utterance}"
    outputs, _, _ = run_stream(
        golden.model.encoder, golden.features[utterance], chunk_size, num_left_chunks
    )
    encoded = torch.cat(outputs, dim=1)
    assert_same(frames_like(encoded, golden.arrays[key]), golden.arrays[key])
    if utterance == "A":
        log_probs = golden.model.ctc_log_probs(encoded)
        expected = golden.arrays[f"{key}_ctc_logp"]
        assert_same(frames_like(log_probs, expected), expected)


@pytest.mark.parametrize(("chunk_size", "num_left_chunks"), SETTINGS[:4])
@torch.no_grad()
def test_stream_returns_wenets_caches(streamable_golden, chunk_size, num_left_chunks, assert_same):
    golden = streamable_golden
    key = f"stream_c{chunk_size}_l{num_left_chunks}_A"
    outputs, caches, starts = run_stream(
        golden.model.encoder, golden.features["A"], chunk_size, num_left_chunks
    )
    assert starts == golden.arrays[f"{key}_chunk_starts"].tolist()
    assert [output.size(1) for output in outputs] == golden.arrays[f"{key}_chunk_lens"].tolist()
    compared = 0
    for index, (att_cache, cnn_cache) in enumerate(caches):
        if f"{key}_att_cache_{index}" in golden.arrays:
            expected = golden.arrays[f"{key}_att_cache_{index}"]
            assert_same(frames_like(att_cache, expected, 2), expected)
            expected = golden.arrays[f"{key}_cnn_cache_{index}"]
            assert_same(frames_like(cnn_cache, expected, 3), expected)
            compared += 1
    assert compared == 4


@torch.no_grad()
def test_every_frame_of_every_setting_equals_wenets(whole_golden, assert_same):
    """Those that the repository leaves out as well."""
    encoder, features = whole_golden.model.encoder, whole_golden.features
    for chunk_size, left in SETTINGS:
        key = f"c{chunk_size}_l{left}"
        masked = run_whole(encoder, features["A"], chunk_size=chunk_size, num_left_chunks=left)
        assert_same(masked, whole_golden.arrays[f"masked_{key}_A"])
        for utterance in "AB":
            outputs, caches, _ = run_stream(encoder, features[utterance], chunk_size, left)
            expected = whole_golden.arrays[f"stream_{key}_{utterance}"]
            assert_same(torch.cat(outputs, dim=1), expected)
            for index, (att_cache, cnn_cache) in enumerate(caches):
                name = f"stream_{key}_{utterance}_{{}}_cache_{index}"
                if name.format("att") in whole_golden.arrays:
                    assert_same(att_cache, whole_golden.arrays[name.format("att")])
                    assert_same(cnn_cache, whole_golden.arrays[name.format("cnn")])


@torch.no_grad()
def test_step_at_offset_1000_equals_wenets(streamable_golden, assert_same):
    arrays, encoder = streamable_golden.arrays, streamable_golden.model.encoder
    results = encoder.forward_chunk(
        arrays["step_in_feats"],
        streamable_golden.meta["step_offset"],
        streamable_golden.meta["step_required_cache_size"],
        arrays["step_in_att_cache"],
        arrays["step_in_cnn_cache"],
    )
    names = {"out": 1, "out_att_cache": 2, "out_cnn_cache": 3}
    for (name, dim), result in zip(names.items(), results, strict=True):
        expected = arrays[f"step_{name}"]
        assert_same(frames_like(result, expected, dim), expected)


@torch.no_grad()
def test_our_own_stems_stream_as_they_train(tiny_model):
    encoder, chunk_size = tiny_model.encoder, 4
    torch.manual_seed(0)
    features = torch.randn(1, 203, 80)
    masked = run_whole(encoder, features, chunk_size=chunk_size, num_left_chunks=2)
    outputs, _, _ = run_stream(encoder, features, chunk_size, 2)
    torch.testing.assert_close(torch.cat(outputs, dim=1), masked, rtol=0, atol=1e-5)


@torch.no_grad()
def test_a_padded_utterance_is_encoded_as_if_alone(tiny_model):
    torch.manual_seed(0)
    short, long = torch.randn(1, 90, 80), torch.randn(1, 150, 80)
    batch = torch.cat((torch.nn.functional.pad(short, (0, 0, 0, 60)), long))
    encoded, lengths = tiny_model.encoder(batch, torch.tensor([90, 150]), chunk_size=4)
    alone = run_whole(tiny_model.encoder, short, chunk_size=4)
    assert int(lengths[0]) == alone.size(1)
    torch.testing.assert_close(encoded[0, : alone.size(1)], alone[0], rtol=0, atol=1e-5)


@torch.no_grad()
def test_runs_on_beyond_wenets_5000_positions(tiny_models):
    encoder = tiny_models["conformer"].encoder
    torch.manual_seed(0)
    empty = torch.zeros(0, 0, 0, 0)
    window, later = torch.randn(1, 19, 80), 1_000_000
    here, att_cache, cnn_cache = encoder.forward_chunk(window, 4_998, 8, empty, empty)
    beyond, _, _ = encoder.forward_chunk(window, 5_002, 8, att_cache, cnn_cache)
    far, _, _ = encoder.forward_chunk(window, later, 8, att_cache, cnn_cache)
    for output in (here, beyond, far):
        assert torch.isfinite(output).all()
    assert not torch.allclose(beyond, far, atol=1e-3), "positions had no effect"


def test_full_context_model_refuses_chunks(golden_by_name):
    encoder = golden_by_name["variants/offline_conformer_bn"].model.encoder
    empty = torch.zeros(0, 0, 0, 0)
    with pytest.raises(NotStreamable):
        encoder.forward_chunk(torch.zeros(1, 67, 80), 0, -1, empty, empty)
    context = encoder.initial_state(2, 16).gather(torch.arange(2), 16)
    with pytest.raises(NotStreamable):
        encoder.forward_lanes(torch.zeros(2, 67, 80), torch.tensor([16, 16]), context)


def test_forward_chunk_takes_one_stream(tiny_models):
    empty = torch.zeros(0, 0, 0, 0)
    with pytest.raises(ValueError, match="one stream"):
        tiny_models["conformer"].encoder.forward_chunk(torch.zeros(2, 19, 80), 0, 8, empty, empty)


def test_static_chunk_model_uses_its_chunk_when_none_is_asked_for(tiny_models):
    from dataclasses import replace

    encoder = tiny_models["conformer"].encoder
    static = Encoder(replace(encoder.config, use_dynamic_chunk=False, static_chunk_size=4)).eval()
    static.load_state_dict(encoder.state_dict())
    torch.manual_seed(0)
    features = torch.randn(1, 120, 80)
    with torch.no_grad():
        expected = run_whole(encoder, features, chunk_size=4)
        torch.testing.assert_close(run_whole(static, features), expected, rtol=0, atol=1e-6)
