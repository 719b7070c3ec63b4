import torch

from earshot.models.layers.dropout import Dropout, random_bytes


def test_drops_its_share_and_keeps_the_mean():
    torch.manual_seed(0)
    dropped = Dropout(0.25).train()(torch.ones(1000, 1000))
    torch.testing.assert_close(dropped.unique(), torch.tensor([0.0, 1 / 0.75]))
    assert abs(float((dropped == 0).float().mean()) - 0.25) < 2e-3
    assert abs(float(dropped.mean()) - 1.0) < 4e-3


def test_does_nothing_in_evaluation_or_at_rate_zero():
    x = torch.randn(4, 5)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x


def test_gradient_is_dropped_where_the_value_is():
    torch.manual_seed(0)
    x = torch.ones(50, 51, requires_grad=True)
    y = Dropout(0.5).train()(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach(), rtol=0, atol=0)


def test_the_seed_decides():
    masks = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        masks.append(Dropout(0.5).train()(torch.ones(33)))
    assert torch.equal(masks[0], masks[1])
    assert not torch.equal(masks[0], masks[2])


def test_every_byte_of_the_generator_is_uniform():
    torch.manual_seed(0)
    counts = torch.bincount(random_bytes(torch.Size([2560, 1000])).flatten().int(), minlength=256)
    # 10,000 expected of each value, standard deviation 100.
    assert counts.min() > 9_500
    assert counts.max() < 10_500


def test_keeps_the_data_type():
    assert Dropout(0.1).train()(torch.ones(8, dtype=torch.bfloat16)).dtype == torch.bfloat16
