"""Pickles, processes, threads and Ctrl-C."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import c2cnet


def test_pickles_and_copies_predict_the_same_bits(darcy, fitted):
    u = fitted.predict(darcy.test.f)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), copy.copy(fitted)):
        np.testing.assert_array_equal(again.predict(darcy.test.f), u)
        assert again.report_ == fitted.report_


def predict(arguments):
    model, f = arguments
    return model.predict(f)


def refit(arguments):
    model, f, u = arguments
    return model.fit(f, u).predict(f)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_models_go_to_other_processes(darcy, fitted, method):
    u = fitted.predict(darcy.test.f)
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        for found in pool.map(predict, [(fitted, darcy.test.f)] * 2):
            np.testing.assert_array_equal(found, u)


def test_fits_in_forked_processes(darcy, bases):
    model = c2cnet.C2CNet(**bases, map="kernel", x=darcy.x, y=darcy.y)
    here = refit((model, darcy.train.f, darcy.train.u))
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        for found in pool.map(refit, [(model, darcy.train.f, darcy.train.u)] * 2):
            np.testing.assert_array_equal(found, here)


def test_two_fits_at_once(darcy, bases):
    def fit(seed):
        model = c2cnet.C2CNet(**bases, map=c2cnet.MLP(hidden=[32], steps=200), seed=seed)
        return model.fit(darcy.train.f, darcy.train.u, darcy.x, darcy.y).predict(darcy.test.f)

    alone = [fit(0), fit(1)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(fit, [0, 1]))
    for a, b in zip(alone, together):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(alone[0], alone[1])


def test_other_threads_go_on_during_a_fit(darcy, bases):
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    model = c2cnet.C2CNet(**bases, map=c2cnet.MLP(hidden=[200, 200], steps=300))
    model.fit(darcy.train.f, darcy.train.u, darcy.x, darcy.y)
    end = time.perf_counter()
    done.set()
    thread.join()
    during = [t for t in ticks if begin < t < end]
    assert len(during) > 0.2 * (end - begin) / 0.01


LONG_FIT = """
import sys, time
import c2cnet
data = c2cnet.generate("darcy1d", n_train=400, n_test=1, points=200)
{setup}
print("ready", flush=True)
try:
    model.fit(data.train.f, data.train.u, data.x, data.y)
except KeyboardInterrupt:
    print("interrupted", hasattr(model, "report_"), flush=True)
    # Nothing is broken: the same estimator fits again.
    quick = c2cnet.C2CNet(c2cnet.Polynomial(functions=9), c2cnet.Polynomial(functions=9), map="linear")
    quick.fit(data.train.f, data.train.u, data.x, data.y)
    print("again", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize(
    "setup",
    [
        "model = c2cnet.C2CNet(map=c2cnet.MLP(steps=10**7))",
        "basis = c2cnet.Fourier('sine', functions=60)\n"
        "model = c2cnet.C2CNet(basis, basis, map=c2cnet.MLP('paper', steps=10**7))",
    ],
)
@pytest.mark.parametrize("delay", [0.1, 1.5])
def test_ctrl_c_stops_a_fit_within_a_second(setup, delay):
    script = LONG_FIT.format(setup=setup)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(delay)
        begin = time.perf_counter()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted False\n"
        assert time.perf_counter() - begin < 1.0
        assert process.stdout.readline() == "again\n"
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()
