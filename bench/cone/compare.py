#!/usr/bin/env python3
"""The same problems through `specht solve` and through Siconos, in one run: times, ratios, errors reached.

    compare.py [path of the program specht]

Needs python3-siconos (Debian; so Debian's own python3) and numpy. Times of Siconos are processor time of the solver call alone, one
thread; of specht the least wall time of twenty runs as it reports it. A busy machine makes specht look slower, Siconos hardly.
Errors of both are computed here, with the same function, from the impulses.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

# before numpy starts its threads
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402

# an answer counts in the comparison of times when its error is below this
GOOD = 1e-6


def project(z, mu):
    n, t = z[:, 0], z[:, 1:]
    l = np.sqrt((t * t).sum(1))
    out = np.zeros_like(z)
    inside = l <= mu * n
    out[inside] = z[inside]
    b = ~inside & (mu * l > -n)
    p = (n[b] + mu[b] * l[b]) / (1 + mu[b] ** 2)
    out[b, 0] = p
    out[b, 1:] = (mu[b] * p / l[b])[:, None] * t[b]
    return out


def error(W, q, mu, r):
    u = (W @ r + q).reshape(-1, 3)
    u[:, 0] += mu * np.sqrt((u[:, 1:] ** 2).sum(1))
    r = r.reshape(-1, 3)
    return np.linalg.norm(r - project(r - u, mu)) / np.linalg.norm(q)


def read(path):
    p = json.load(open(path))

    def dense(a):
        x = np.zeros((a["rows"], a["cols"]))
        np.add.at(x, (a["i"], a["j"]), a["v"])
        return x
    H, M = dense(p["H"]), dense(p["M"])
    q = np.array(p["w"]) + H @ np.array(p["v_free"])
    W = (H / np.diag(M)) @ H.T
    return W, q, np.array(p["mu"])


def siconos(W, q, mu, solver, tolerance, iterations):
    import siconos.numerics as sn
    fc = sn.FrictionContactProblem(3, len(mu), np.asfortranarray(W), q, mu)
    o = sn.SolverOptions(solver)
    o.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
    o.iparam[sn.SICONOS_IPARAM_MAX_ITER] = iterations
    r, u = np.zeros(len(q)), np.zeros(len(q))
    driver = {
        sn.SICONOS_FRICTION_3D_NSGS: sn.fc3d_nsgs,
        sn.SICONOS_FRICTION_3D_ADMM: sn.fc3d_admm,
        sn.SICONOS_FRICTION_3D_PROX: sn.fc3d_proximal,
        sn.SICONOS_FRICTION_3D_NSN_AC: sn.fc3d_nonsmooth_Newton_AlartCurnier,
    }[solver]
    t = time.process_time()
    driver(fc, r, u, o)
    return time.process_time() - t, r


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "specht"
    try:
        import siconos.numerics as sn
        solvers = [("NSGS", sn.SICONOS_FRICTION_3D_NSGS, 1e-8, 20000), ("ADMM", sn.SICONOS_FRICTION_3D_ADMM, 1e-8, 20000),
                   ("PROX", sn.SICONOS_FRICTION_3D_PROX, 1e-8, 1000), ("Newton", sn.SICONOS_FRICTION_3D_NSN_AC, 1e-8, 500)]
    except ImportError:
        print("Siconos is not installed (Debian: python3-siconos); specht alone")
        solvers = []
    print(f"{'problem':<18} {'solver':<8} {'ms':>10} {'error':>9} {'time ratio':>11} {'error ratio':>12}")
    for kind, size, seed in [("lattice", 2, 0), ("lattice", 2, 1), ("lattice", 3, 0), ("lattice", 3, 1), ("lattice", 3, 2), ("tower", 10, 0)]:
        with tempfile.NamedTemporaryFile(suffix=".json") as f:
            subprocess.run([program, "problem", kind, "--size", str(size), "--seed", str(seed), "--mu", "0.6", "--out", f.name], check=True)
            W, q, mu = read(f.name)
            best = None
            for _ in range(20):
                a = json.loads(subprocess.run([program, "solve", f.name], capture_output=True, text=True).stdout)
                if best is None or a["time"] < best["time"]:
                    best = a
        t0, e0 = best["time"], max(error(W, q, mu, np.array(best["r"])), 1e-16)
        name = f"{kind} {size} ({len(mu)}) s{seed}"
        print(f"{name:<18} {'specht':<8} {t0 * 1e3:>10.2f} {e0:>9.1e}", flush=True)
        reached = []
        for label, solver, tolerance, iterations in solvers:
            t, r = siconos(W, q, mu, solver, tolerance, iterations)
            e = error(W, q, mu, r)
            reached.append((t, label, e))
            print(f"{name:<18} {label:<8} {t * 1e3:>10.2f} {e:>9.1e} {t / t0:>11.0f} {e / e0:>12.0e}", flush=True)
        good = [x for x in reached if x[2] < GOOD]
        if good:
            t, label, _ = min(good)
            print(f"{name:<18} best of Siconos below {GOOD:.0e}: {label}, {t / t0:.0f} times the time of specht", flush=True)
        elif reached:
            print(f"{name:<18} none of Siconos's solvers below {GOOD:.0e}", flush=True)


if __name__ == "__main__":
    main()
