"""Groups of parameters, the optimisers that steps of five numbers say too little of (Muon, LBFGS, averaged weights), and derivatives."""

import math
from unittest import mock

import torch

from table import write

D = torch.float64


def filled(*shape):
    """Element i in row-major order is 1 - 0.3 i."""
    n = math.prod(shape)
    return torch.tensor([1 - 0.3 * i for i in range(n)], dtype=D).reshape(shape).requires_grad_()


def set_gradient(x, step):
    """g_i = sin(0.1 step + i) x_i + cos(i)."""
    index = torch.arange(x.numel(), dtype=D).reshape(x.shape)
    x.grad = torch.sin(0.1 * step + index) * x.detach() + torch.cos(index)


def groups():
    from torch.optim import lr_scheduler
    sets = [
        ("SGD", [dict(lr=0.1), dict(lr=0.02, momentum=0.9)], None, {}),
        ("SGD", [dict(lr=0.1, momentum=0.5), dict(lr=0.02, momentum=0.9, weight_decay=0.1)], "StepLR",
         dict(step_size=7, gamma=0.8)),
        ("AdamW", [dict(lr=0.02), dict(lr=0.05, weight_decay=0.0)], "CosineAnnealingLR", dict(T_max=30, eta_min=0.001)),
        ("NAdam", [dict(lr=0.02, momentum_decay=0.01), dict(betas=(0.8, 0.95))], "LinearLR", dict(total_iters=20)),
        ("SGD", [dict(lr=0.1, momentum=0.5), dict(lr=0.02, momentum=0.9)], "OneCycleLR", dict(max_lr=0.05, total_steps=60)),
    ]
    cases = []
    for name, options, schedule_name, schedule_options in sets:
        parameters = [filled(3), filled(2), filled(4)]
        optimiser = getattr(torch.optim, name)([{"params": [p], **o} for p, o in zip(parameters, options)])
        schedule = schedule_name and getattr(lr_scheduler, schedule_name)(optimiser, **schedule_options)
        after = {}
        for step in range(1, 51):
            if step == 21 and not schedule:
                optimiser.add_param_group({"params": [parameters[2]], "lr": 0.05})
            for p in parameters:
                set_gradient(p, step)
            optimiser.step()
            if schedule:
                schedule.step()
            if step in (1, 2, 10, 25, 50):
                after[str(step)] = {"values": [p.tolist() for p in parameters],
                                    "rates": [g["lr"] for g in optimiser.param_groups]}
        cases.append({"optimiser": name, "groups": options, "schedule": schedule_name, "schedule_options": schedule_options,
                      "after": after})
    write("groups",
          "float64; parameters of 3, 2 and 4 elements x_i = 1 - 0.3 i; before step s = 1, 2, ..: g_i = sin(0.1 s + i) x_i + "
          "cos(i); the first two parameters are a group each; without a schedule the third becomes one, of lr 0.05, before "
          "step 21; after: all parameters, and the rates for the next step", cases)


def muon():
    """In double throughout: PyTorch's iteration rounds to bfloat16, which is taken out of it here."""
    sets = [
        ((3, 4), dict()),
        ((4, 2), dict(lr=0.02)),
        ((4, 2), dict(lr=0.02, nesterov=False, weight_decay=0.0)),
        ((3, 3), dict(lr=0.02, momentum=0.8, ns_steps=3, eps=1e-5)),
        ((2, 5), dict(lr=0.02, adjust_lr_fn="match_rms_adamw")),
        ((2, 5), dict(lr=0.02, adjust_lr_fn="spectral_unclamped", ns_coefficients=(3.0, -3.2, 1.2))),
        ((5, 2), dict(lr=0.02, adjust_lr_fn="original")),
    ]
    cases = []
    for shape, options in sets:
        x = filled(*shape)
        after = {}
        with mock.patch.object(torch, "bfloat16", D):
            optimiser = torch.optim.Muon([x], **options)
            for step in range(1, 101):
                set_gradient(x, step)
                optimiser.step()
                if step in (1, 2, 10, 50, 100):
                    after[str(step)] = x.flatten().tolist()
        cases.append({"shape": list(shape), "options": options, "after": after})
    write("muon",
          "torch.optim.Muon, its bfloat16 replaced by float64; x_i = 1 - 0.3 i in row-major order; before step s = 1, 2, ..: "
          "g_i = sin(0.1 s + i) x_i + cos(i)", cases)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def bowl(x):
    return (torch.arange(1, x.numel() + 1, dtype=D) * (x - 1) ** 2).sum() + 0.1 * (x ** 4).sum()


def lbfgs():
    sets = [
        ("bowl", 12, dict(lr=0.05)),
        ("bowl", 12, dict(lr=0.1, max_iter=5, history_size=3)),
        ("bowl", 6, dict(line_search_fn="strong_wolfe", max_iter=4)),
        ("rosenbrock", 12, dict(line_search_fn="strong_wolfe", max_iter=5)),
        ("rosenbrock", 12, dict(line_search_fn="strong_wolfe", max_iter=5, history_size=2, lr=0.5)),
        ("rosenbrock", 5, dict(line_search_fn="strong_wolfe", max_iter=20, max_eval=7)),
        ("rosenbrock", 8, dict(lr=0.001, max_iter=10, tolerance_change=1e-3)),
        ("bowl", 6, dict(line_search_fn="strong_wolfe", tolerance_grad=1e-2)),
    ]
    cases = []
    for name, steps, options in sets:
        function = globals()[name]
        a, b = filled(2), filled(2, 2)
        optimiser = torch.optim.LBFGS([a, b], **options)

        def closure():
            optimiser.zero_grad()
            loss = function(torch.cat([a, b.flatten()]))
            loss.backward()
            return loss

        after = []
        for _ in range(steps):
            loss = optimiser.step(closure)
            state = optimiser.state[a]
            after.append({"loss": loss.item(), "values": a.tolist() + b.flatten().tolist(),
                          "evaluations": state["func_evals"], "iterations": state["n_iter"]})
        cases.append({"function": name, "options": options, "after": after})
    write("lbfgs",
          "torch.optim.LBFGS, float64; parameters a [2] and b [2, 2], x_i = 1 - 0.3 i in each, x = (a, b); rosenbrock: "
          "sum 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2; bowl: sum i (x_i - 1)^2 + 0.1 x_i^4, i from 1; after each step: what it "
          "returned, x, and how many evaluations and iterations there were in all", cases)


def averages():
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
    cases = []
    for decay in (0.9, 0.999):
        net = torch.nn.Linear(2, 3).to(D)
        net.weight, net.bias = torch.nn.Parameter(filled(3, 2)), torch.nn.Parameter(filled(3))
        average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(decay))
        after = {}
        for step in range(1, 51):
            with torch.no_grad():
                for p in net.parameters():
                    p.add_(torch.sin(step + torch.arange(p.numel(), dtype=D)).reshape(p.shape))
            average.update_parameters(net)
            if step in (1, 2, 10, 50):
                after[str(step)] = [p.flatten().tolist() for p in average.module.parameters()]
        cases.append({"decay": decay, "after": after})
    write("averages",
          "AveragedModel with get_ema_multi_avg_fn(decay), float64; two parameters, [3, 2] and [3], x_i = 1 - 0.3 i; before "
          "update s = 1, 2, ..: x_i += sin(s + i); after: the averages after that many updates", cases)


def derivatives():
    from torch.autograd import functional

    def f(a, b):
        return torch.tanh(a) @ b * b.sum()

    def s(a, b):
        return (f(a, b) ** 2).sum() + torch.exp(b).sum()

    a, b = filled(2, 3).detach(), filled(3).detach()
    va, vb, vy = torch.cos(torch.arange(6, dtype=D)).reshape(2, 3), torch.sin(torch.arange(3, dtype=D)), torch.tensor([0.5, -2], dtype=D)
    case = {"f": f(a, b), "s": s(a, b), "vjp": functional.vjp(f, (a, b), vy)[1], "jvp": functional.jvp(f, (a, b), (va, vb))[1],
            "hvp": functional.hvp(s, (a, b), (va, vb))[1], "vhp": functional.vhp(s, (a, b), (va, vb))[1],
            "jacobian": functional.jacobian(f, (a, b)), "hessian": functional.hessian(s, (a, b))}
    write("derivatives",
          "torch.autograd.functional, float64; f(a, b) = tanh(a) b sum(b), s = sum f^2 + sum exp b; a [2, 3] and b [3], x_i = 1 - 0.3 "
          "i in each; v = (cos i, sin i), for vjp (0.5, -2)", [case])
