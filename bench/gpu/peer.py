"""PyTorch's side: milliseconds per step of the paper's networks, as one JSON object per line.

Full f32 (no TF32), Adam (fused, capturable), the relative error through the triangular factor R. Three ways:
`graph`, a step as one CUDA graph; `graph folded`, with R multiplied into the last layer, as c2cnet does it;
`eager`.
"""

import json
import statistics
import sys

import torch

PROBLEMS = {
    "darcy1d": ([128, 400, 400, 400, 128], 800),
    "kdv-burgers": ([32, 300, 300, 300, 1024], 1600),
    "elastic-plate": ([64, 512, 512], 1850),
    "poisson-holes": ([512, 210, 210, 1600], 1600),
    "helmholtz": ([256, 415, 415, 512], 2000),
    "darcy2d": ([512, 180, 180, 2048], 2400),
}


class Training:
    def __init__(self, widths, samples, folded):
        torch.manual_seed(0)
        uniform = lambda *shape: torch.rand(*shape, device="cuda") * 2 - 1
        self.x = uniform(samples, widths[0])
        self.r = torch.triu(uniform(widths[-1], widths[-1]))
        self.t = uniform(samples, widths[-1])
        self.norm = self.t.norm(dim=1)
        layers = []
        for a, b in zip(widths[:-2], widths[1:-1]):
            layers += [torch.nn.Linear(a, b), torch.nn.GELU()]
        self.body = torch.nn.Sequential(*layers).cuda()
        self.last = torch.nn.Linear(widths[-2], widths[-1]).cuda()
        self.folded = folded
        parameters = [*self.body.parameters(), *self.last.parameters()]
        self.adam = torch.optim.Adam(parameters, lr=1e-4, fused=True, capturable=True)

    def step(self):
        self.adam.zero_grad(set_to_none=True)
        h = self.body(self.x)
        if self.folded:
            c = torch.nn.functional.linear(h, self.r @ self.last.weight, self.r @ self.last.bias)
        else:
            c = self.last(h) @ self.r.T
        squared = ((c - self.t) ** 2).sum(dim=1) + 1e-3
        loss = (squared.sqrt() / (self.norm + 1e-12)).mean()
        loss.backward()
        self.adam.step()


def milliseconds(step, together, looks=7):
    times = []
    for _ in range(looks):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(together):
            step()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / together)
    return statistics.median(times[1:])


def recorded(training):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            training.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        training.step()
    return graph.replay


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    names = sys.argv[1:] or list(PROBLEMS)
    for name in names:
        widths, samples = PROBLEMS[name]
        report = lambda what, ms: print(json.dumps({"name": name, "what": what, "ms": ms}), flush=True)
        report("torch graph", milliseconds(recorded(Training(widths, samples, False)), 400))
        report("torch graph folded", milliseconds(recorded(Training(widths, samples, True)), 400))
        report("torch eager", milliseconds(Training(widths, samples, False).step, 100))


main()
