"""Fits to samples that come in chunks, and Dask."""

import copy
import os
import pickle
import re
import signal
import threading
import time
from pathlib import Path

import c2cnet
import numpy as np
import pytest

distributed = pytest.importorskip("distributed")
import c2cnet.dask  # noqa: E402
import dask.array as da  # noqa: E402

BASES = {"input": c2cnet.Polynomial(functions=20), "output": c2cnet.Fourier("sine", functions=20)}


@pytest.fixture(scope="module")
def data():
    return c2cnet.generate("darcy1d", n_train=400, n_test=40, points=80, length=0.2, seed=1)


def chunks(data, width=100):
    return [(data.train.f[i : i + width], data.train.u[i : i + width]) for i in range(0, 400, width)]


def begun(data, **parameters):
    model = c2cnet.C2CNet(x=data.x, y=data.y, **BASES, **parameters)
    return model.partial_fit(*chunks(data)[0], centres=70)


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_chunks_add_up(data, kind):
    model = begun(data, map=kind)
    alone = copy.copy(model).evaluate(data.test.f, data.test.u).rl2e
    for f, u in chunks(data)[1:]:
        assert model.partial_fit(f, u) is model
    errors = model.evaluate(data.test.f, data.test.u)
    assert model.report_["samples"] == 400
    assert errors.rl2e < 1.05 * alone
    assert model.errors_.n_samples == 20 and model.errors_.mse is None
    assert "error" in model.summary() and "RL2E" in repr(model.errors_)
    # A fit forgets the sums.
    model.fit(*chunks(data)[0])
    assert "validation" in model.report_
    assert model.partial_fit(*chunks(data)[1]).predict(data.test.f).shape == data.test.u.shape
    assert model.report_["samples"] == 100


def test_a_network_is_trained_on_all_chunks(data):
    network = c2cnet.MLP(hidden=[40, 40], steps=300)
    model = begun(data, map=network)
    for f, u in chunks(data)[1:]:
        model.partial_fit(f, u)
    errors = model.evaluate(data.test.f, data.test.u)
    assert (model.report_["samples"], model.report_["network_steps"]) == (380, 300)
    assert errors.rl2e < begun(data, map="linear").evaluate(data.test.f, data.test.u).rl2e
    assert "network" in model.summary()


def test_merged_anywhere(data):
    parts = chunks(data)
    model = begun(data, map="kernel")
    there = pickle.loads(pickle.dumps(model.empty()))
    other = there.empty().partial_fit(*parts[2]).merge(there.empty().partial_fit(*parts[3]))
    with pytest.raises(c2cnet.NotFittedError, match="no samples"):
        there.predict(data.test.f)
    model.partial_fit(*parts[1]).merge(pickle.loads(pickle.dumps(other))).merge(there)
    expected = begun(data, map="kernel")
    for part in parts[1:]:
        expected.partial_fit(*part)
    off = np.abs(model.predict(data.test.f) - expected.predict(data.test.f)).max()
    assert off < 1e-5 * np.abs(data.test.u).max()
    assert model.report_["samples"] == 400


def test_what_does_not_belong_is_named(data):
    model = begun(data, map="linear")
    with pytest.raises(ValueError, match="another template"):
        model.merge(c2cnet.C2CNet(map="linear", x=data.x, y=data.y, **BASES).partial_fit(*chunks(data)[1]))
    with pytest.raises(ValueError, match="points"):
        model.partial_fit(data.train.f[:, ::2], data.train.u, x=data.x[::2])
    with pytest.raises(c2cnet.NotFittedError, match="partial_fit"):
        model.merge(c2cnet.C2CNet())
    with pytest.raises(c2cnet.NotFittedError, match="first partial_fit"):
        c2cnet.C2CNet().empty()
    with pytest.raises(ValueError, match="layers"):
        begun(data, map="layered")
    with pytest.raises(ValueError, match="samples"):
        c2cnet.dask.fit(da.zeros((10, 3)), da.zeros((9, 3)))


def fitted(data, workers, kill=False):
    """The bytes of a model that this many processes fitted, and its predictions."""
    cluster = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        f, u = (da.from_array(a, chunks=(50, -1)) for a in (data.train.f, data.train.u))
        if kill:
            victim = client.run(os.getpid).popitem()[1]
            killer = threading.Thread(target=lambda: (time.sleep(0.3), os.kill(victim, signal.SIGKILL)))
            killer.start()
        model = c2cnet.dask.fit(f, u, data.x, data.y, first=100, centres=70, map="kernel", **BASES)
        if kill:
            killer.join()
        predicted = c2cnet.dask.predict(model, da.from_array(data.test.f, chunks=(15, -1)))
        return model._model.to_bytes(), predicted.compute(), model


def test_dask_gives_the_same_bits_on_any_workers(data):
    one, predicted, model = fitted(data, 1)
    assert model.report_["samples"] == 400
    assert np.allclose(predicted, model.predict(data.test.f), rtol=0, atol=1e-12)
    assert fitted(data, 2)[0] == one
    # What a lost worker had done is done again.
    assert fitted(data, 2, kill=True)[0] == one


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask_tells_what_it_does(data, scheduler):
    f, u = (da.from_array(a, chunks=(100, -1)) for a in (data.train.f, data.train.u))
    said = []
    settings = {"first": 100, "map": "linear", **BASES}
    if scheduler == "threads":
        model = c2cnet.dask.fit(f, u, data.x, data.y, verbose=said.append, **settings)
    else:
        cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with cluster, distributed.Client(cluster):
            model = c2cnet.dask.fit(f, u, data.x, data.y, verbose=said.append, **settings)
    steps = [event["step"] for event in said]
    assert "100 of 400 samples summed" in steps and "300 of 400 samples summed" in steps, steps
    assert model.verbose == said.append


def test_the_page_about_dask_runs(capsys):
    text = (Path(__file__).resolve().parents[3] / "docs/dask.md").read_text()
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/dask.md", "exec"), {"__name__": "__main__"})
    said = capsys.readouterr().out.split("\n")
    assert said[0].startswith("4000 ") and said[1].startswith("(") and float(said[2]) < 0.1
