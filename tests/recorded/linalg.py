"""What torch.linalg computes: values and gradients. Signs of singular vectors and eigenvectors are free, so the outputs are made
of products in which they cancel."""

import math

import torch

from table import write

D = torch.float64


def spread(*shape, seed=0):
    """Numbers in [-1, 1] without a pattern, of few digits."""
    return torch.tensor([round(math.sin(1.7 * i * i + 3.1 * i + seed + 0.5), 3) for i in range(math.prod(shape))],
                        dtype=D).reshape(shape)


def definite(*shape, seed=0):
    a = spread(*shape, seed=seed)
    return a @ a.mT + 0.5 * torch.eye(shape[-1], dtype=D)


def of_rank(rank, m, n, seed=0):
    return spread(m, rank, seed=seed) @ spread(rank, n, seed=seed + 1)


def hilbert(n):
    i = torch.arange(n, dtype=D)
    return 1 / (i[:, None] + i + 1)


def steps(x):
    """1, 2, … along the last dimension of x."""
    return torch.arange(1, x.shape[-1] + 1, dtype=D)


def svd(full_matrices):
    def invariants(a):
        u, s, vt = torch.linalg.svd(a, full_matrices=full_matrices)
        k = s.shape[-1]
        u, vt = u[..., :k], vt[..., :k, :]
        return s, u * steps(s) @ vt, u * steps(s) @ u.mT, vt.mT * steps(s) @ vt
    return invariants


def eigh(uplo):
    def invariants(a):
        values, vectors = torch.linalg.eigh(a, UPLO=uplo)
        return values, vectors * steps(values) @ vectors.mT
    return invariants


def qr(mode):
    def factors(a):
        q, r = torch.linalg.qr(a, mode=mode)
        return (r,) if mode == "r" else (q, r)
    return factors


def svd_of_vectors(which):
    """One factor alone."""
    def invariant(a):
        u, s, vt = torch.linalg.svd(a, full_matrices=False)
        return (u * steps(s) @ u.mT,) if which == "u" else (vt.mT * steps(s) @ vt,)
    return invariant


def tuple_of(f):
    return lambda *x: (f(*x),)


OPS = {
    "inv": tuple_of(torch.linalg.inv),
    "solve": tuple_of(torch.linalg.solve),
    "solve, right": tuple_of(lambda a, b: torch.linalg.solve(a, b, left=False)),
    "solve_triangular, upper": tuple_of(lambda a, b: torch.linalg.solve_triangular(a, b, upper=True)),
    "solve_triangular, lower": tuple_of(lambda a, b: torch.linalg.solve_triangular(a, b, upper=False)),
    "solve_triangular, lower, right, unit": tuple_of(
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=False, left=False, unitriangular=True)),
    "cholesky": tuple_of(torch.linalg.cholesky),
    "cholesky, upper": tuple_of(lambda a: torch.linalg.cholesky(a, upper=True)),
    "det": tuple_of(torch.linalg.det),
    "slogdet": lambda a: tuple(torch.linalg.slogdet(a)),
    "svd": svd(True),
    "svd, reduced": svd(False),
    "svd, u": svd_of_vectors("u"),
    "svd, vt": svd_of_vectors("vt"),
    "svdvals": tuple_of(torch.linalg.svdvals),
    "eigh": eigh("L"),
    "eigh, U": eigh("U"),
    "eigvalsh": tuple_of(torch.linalg.eigvalsh),
    # The factor's other triangle is not read; without this PyTorch's gradient says otherwise.
    "cholesky_solve": tuple_of(lambda b, l: torch.cholesky_solve(b, l.tril())),
    "cholesky_solve, upper": tuple_of(lambda b, l: torch.cholesky_solve(b, l.triu(), upper=True)),
    "pinv": tuple_of(torch.linalg.pinv),
    "pinv, atol": tuple_of(lambda a: torch.linalg.pinv(a, atol=0.5)),
    "pinv, rtol": tuple_of(lambda a: torch.linalg.pinv(a, rtol=0.5)),
    "pinv, hermitian": tuple_of(lambda a: torch.linalg.pinv((a.tril() + a.tril(-1).mT), hermitian=True)),
    **{f"cond, {p}": tuple_of(lambda a, p=p: torch.linalg.cond(a, p)) for p in (2, -2)},
    # torch.linalg.cond's own backward pass fails for these.
    **{f"cond, {p}": tuple_of(lambda a, p=p: torch.linalg.matrix_norm(a, p) * torch.linalg.matrix_norm(torch.linalg.inv(a), p))
       for p in (1, -1, math.inf, -math.inf, "fro", "nuc")},
    **{f"matrix_power, {n}": tuple_of(lambda a, n=n: torch.linalg.matrix_power(a, n)) for n in (1, 2, 3, 6, -1, -2)},
    "matrix_exp": tuple_of(torch.linalg.matrix_exp),
    "lstsq": lambda a, b: torch.linalg.lstsq(a, b)[:1],
    "lstsq, gels": lambda a, b: torch.linalg.lstsq(a, b, driver="gels")[:2],
    "lstsq, gelsd": lambda a, b: torch.linalg.lstsq(a, b, driver="gelsd")[:2],
    # torch.linalg.lstsq's own backward pass takes the default for rcond.
    "lstsq, rcond": tuple_of(lambda a, b: torch.linalg.pinv(a, rtol=0.4) @ b),
    "qr, reduced": qr("reduced"),
    "qr, complete": qr("complete"),
    "qr, r": qr("r"),
}

SQUARE = {"1 x 1": spread(1, 1, seed=1), "4 x 4": spread(4, 4), "a batch": spread(2, 1, 3, 3), "no matrix": spread(0, 3, 3),
          "0 x 0": spread(0, 0), "badly conditioned": hilbert(5), "of different scales": spread(4, 4) * 10.0 ** torch.arange(-6, 2, 2, dtype=D)}
SINGULAR = {"zero": torch.zeros(3, 3, dtype=D), "a zero row": spread(3, 3) * torch.tensor([[1.0], [0], [1]], dtype=D),
            "[0]": torch.zeros(1, 1, dtype=D), "one of a batch": torch.stack([spread(2, 2), torch.ones(2, 2, dtype=D)])}
SHAPED = {"tall": spread(5, 3), "wide": spread(3, 5), "square": spread(4, 4), "1 x 1": spread(1, 1, seed=1), "a row": spread(1, 4),
          "a column": spread(4, 1), "a batch": spread(2, 2, 4, 3), "0 rows": spread(0, 3), "0 columns": spread(3, 0),
          "no matrix": spread(0, 3, 2), "badly conditioned": hilbert(5), "of different scales": spread(4, 3) * 10.0 ** torch.arange(-6, 0, 2, dtype=D)}


def inputs_of(op):
    """The inputs of an op's cases by name."""
    base = op.split(",")[0]
    if base in ("inv", "det"):
        return {name: (a,) for name, a in (SQUARE | SINGULAR).items()}
    if base == "slogdet":
        return {name: (a,) for name, a in SQUARE.items()}
    if base == "cholesky":
        return {"1 x 1": (definite(1, 1),), "4 x 4": (definite(4, 4),), "a batch": (definite(2, 1, 3, 3),), "no matrix": (spread(0, 3, 3),),
                "0 x 0": (spread(0, 0),), "badly conditioned": (hilbert(5),), "indefinite": (spread(3, 3),),
                "singular": (torch.zeros(2, 2, dtype=D),), "one of a batch": (torch.stack([definite(2, 2), -definite(2, 2)]),),
                "NaN": (definite(2, 2) * math.nan,)}
    if base == "cholesky_solve":
        factor = lambda *shape: torch.linalg.cholesky(definite(*shape)).mT if "upper" in op else torch.linalg.cholesky(definite(*shape))
        return {"a matrix": (spread(4, 2, seed=2), factor(4, 4)), "a batch": (spread(2, 3, 2, seed=2), factor(2, 3, 3)),
                "one factor for all": (spread(2, 3, 2, seed=2), factor(3, 3)), "one right side for all": (spread(3, 2, seed=2), factor(2, 3, 3)),
                "both triangles": (spread(3, 2, seed=2), spread(3, 3)), "no columns": (spread(3, 0), factor(3, 3)), "0 x 0": (spread(0, 2), spread(0, 0))}
    if op == "pinv, hermitian":
        return {name: (a,) for name, a in SQUARE.items()} | {"singular": (of_rank(1, 3, 1) @ of_rank(1, 3, 1).mT,)}
    if base == "pinv":
        return {name: (a,) for name, a in SHAPED.items()} | {"a rank too small": (of_rank(3, 4, 4),), "tall, a rank too small": (of_rank(2, 5, 3),),
                                                             "wide, a rank too small": (of_rank(2, 3, 5),)}
    if op in ("cond, 2", "cond, -2"):
        return {name: (a,) for name, a in SHAPED.items()}
    if base == "cond":
        return {name: (a,) for name, a in SQUARE.items() if a.numel()}
    if base in ("matrix_power", "matrix_exp"):
        more = {"of different norms": (torch.stack([spread(3, 3), 12 * spread(3, 3), 0 * spread(3, 3), -40 * definite(3, 3)]),)}
        return {name: (a,) for name, a in SQUARE.items()} | (more if base == "matrix_exp" else {})
    if base == "lstsq":
        pairs = {"tall": (spread(5, 3), spread(5, 2, seed=2)), "wide": (spread(3, 5), spread(3, 2, seed=2)), "square": (spread(4, 4), spread(4, 2, seed=2)),
                 "a vector": (spread(5, 3), spread(5, seed=2)), "a batch": (spread(2, 4, 3), spread(2, 4, 2, seed=2)),
                 "a batch of vectors": (spread(2, 4, 3), spread(2, 4, seed=2)), "badly conditioned": (hilbert(5), spread(5, 2))}
        if op == "lstsq, rcond":
            pairs.pop("a batch of vectors")
        if op != "lstsq, gels":
            pairs |= {"a rank too small": (of_rank(2, 4, 4), spread(4, 2, seed=2)), "tall, a rank too small": (of_rank(2, 5, 3), spread(5, 2, seed=2)),
                      "wide, a rank too small": (of_rank(2, 3, 5), spread(3, 2, seed=2))}
        return pairs
    if base in ("solve", "solve_triangular"):
        pairs = {"a matrix": (spread(4, 4), spread(4, 2, seed=2)), "a batch": (spread(2, 3, 3), spread(2, 3, 2, seed=2)),
                 "one matrix for all": (spread(3, 3), spread(2, 3, 2, seed=2)), "one right side for all": (spread(2, 3, 3), spread(3, 2, seed=2)),
                 "no columns": (spread(3, 3), spread(3, 0)), "0 x 0": (spread(0, 0), spread(0, 2)), "badly conditioned": (hilbert(5), spread(5, 2))}
        if op == "solve":
            pairs |= {"a vector": (spread(3, 3), spread(3, seed=2)), "a batch of vectors": (spread(2, 3, 3), spread(2, 3, seed=2)),
                      "a vector for all": (spread(2, 3, 3), spread(3, seed=2)), "singular": (torch.ones(2, 2, dtype=D), spread(2, 1))}
        if "right" in op:
            pairs = {name: (a, b.mT) for name, (a, b) in pairs.items()}
        return pairs
    if base in ("eigh", "eigvalsh"):
        return {name: (a,) for name, a in SQUARE.items()} | {"singular": (of_rank(2, 3, 3),), "diagonal": (torch.diag(spread(4)),)}
    extra = {} if base == "qr" else {"NaN": (spread(2, 2) * math.nan,)}
    if op in ("svd, u", "svd, vt"):  # elsewhere the signs of the last vectors of U and V do not cancel
        extra["a rank too small"] = (of_rank(3, 4, 4),)
    if op == "svd, vt":
        extra["tall, a rank too small"] = (of_rank(2, 5, 3),)
    return {name: (a,) for name, a in SHAPED.items()} | extra


def cofactors(a):
    """The derivative of a determinant by its definition; PyTorch's is 0 for most singular matrices."""
    n = a.shape[-1]
    minor = lambda i, j: torch.det(a[..., [k for k in range(n) if k != i], :][..., [k for k in range(n) if k != j]])
    return torch.stack([torch.stack([(-1) ** (i + j) * minor(i, j) for j in range(n)], -1) for i in range(n)], -2)


def linalg():
    cases = []
    for op, function in OPS.items():
        for name, inputs in inputs_of(op).items():
            inputs = [x.clone().requires_grad_() for x in inputs]
            case = {"op": op, "name": name, "inputs": inputs}
            try:
                outputs = function(*inputs)
            except RuntimeError:
                cases.append(case | {"refused": True})
                continue
            case["outputs"] = outputs
            try:
                wanted = [y for y in outputs if y.requires_grad]
                gradients = torch.autograd.grad(wanted, inputs, [spread(*y.shape, seed=4) for y in wanted], allow_unused=True)
                if op == "det" and inputs[0].numel():
                    gradients = [cofactors(inputs[0]) * spread(*outputs[0].shape, seed=4)[..., None, None]]
                case["gradients"] = [torch.zeros_like(x) if g is None else g for g, x in zip(gradients, inputs)]
            except RuntimeError:
                case["gradient_refused"] = True
            cases.append(case)
    write("linalg",
          "float64; gradients: of the inputs, for incoming gradients sin(1.7 i i + 3.1 i + 4.5), rounded to 3 digits, at i = 0, 1, …; those of det are "
          "cofactors by their definition; the outputs of svd are s, "
          "U W Vᵀ, U W Uᵀ, V W Vᵀ, and those of eigh the eigenvalues and V W Vᵀ, with W = diag(1, 2, …)", cases)


if __name__ == "__main__":
    linalg()
