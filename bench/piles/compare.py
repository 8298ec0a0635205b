"""Piles beside MuJoCo, rapier and Siconos: time and errors of the same models, one process after the other on one core.

    cargo build --release -p specht-bench --bin piles
    python bench/piles/compare.py [wall-100 tower-40 heap-1000]

Programs that are not installed are skipped with a word (pip install mujoco; rapier has Python bindings under the name rapier3d;
Debian: python3-siconos). The models are those of `piles model TASK`: bodies of 1 kg, gravity 9.81, friction 1/2, no rebound, the step of the
table. Columns: steps per second of processor time; penetration, the deepest of all steps, of half a body; creep, the way of the
first body in the run (for the heap, which moves, nothing); energy, of the potential energy at the start: for MuJoCo and rapier the largest
growth of kinetic and potential energy over the start, which no pile without motors may have, for Specht the closing error of its ledger; so this column compares
the others with each other only. rapier is looked at in every tenth step and without the spin of boxes.
Siconos runs for a minute; its depth is not measured, and the boxes of its contacts are Bullet's.
"""

import csv
import io
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TASKS = ["wall-100", "tower-40", "knocked-100", "heap-1000"]
STEPS = {"wall": (2.0, 1e-3), "knocked": (0.5, 1e-3), "tower": (10.0, 1e-2), "heap": (2.0, 5e-3)}
# the ball that hits the wall: place, velocity, radius, mass, inertia
BALL = ((9.3, -1.5, 5.2), (0.0, 8.0, 0.0), 0.5, 5.0, 0.5)


def bodies(task):
    """Centres, half lengths (None for balls)."""
    kind, n = task.split("-")
    n = int(n)
    if kind in ("wall", "knocked"):
        c = round(math.sqrt(n))
        return [(2.0 * (k % c) + (k // c) % 2, 0.0, k // c + 0.5) for k in range(n)], (1.0, 0.5, 0.5)
    if kind == "tower":
        return [(0.0, 0.0, k + 0.5) for k in range(n)], (0.5, 0.5, 0.5)
    c = round(n ** (1 / 3))
    at = lambda k: (
        1.1 * ((k - 1) % c) + 0.04 * math.sin(7 * k),
        1.1 * ((k - 1) // c % c) + 0.04 * math.cos(5 * k),
        0.5 + 1.02 * ((k - 1) // (c * c)),
    )
    return [at(k) for k in range(1, n + 1)], None


def rests(task):
    return not task.startswith(("heap", "knocked"))


def ours(task):
    """The line of the bench program."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = [p for p in (target / "release" / "piles", target / "debug" / "piles") if p.exists()]
    if not found:
        return "not built"
    text = subprocess.run([found[0], task], capture_output=True, text=True, check=True).stdout
    row = next(csv.DictReader(io.StringIO(text)))
    moved = float(row["moved"]) if rests(task) else math.nan
    return float(row["steps_per_second"]), float(row["penetration"]), moved, float(row["energy"])


def mujoco(task):
    """MuJoCo: soft contacts, elliptic cones, Newton's solver, as it comes."""
    try:
        import mujoco as mj
    except ImportError:
        return "not installed"
    centres, half = bodies(task)
    until, step = STEPS[task.split("-")[0]]
    geom = f'type="box" size="{half[0]} {half[1]} {half[2]}"' if half else 'type="sphere" size="0.5"'
    inertia = (
        "0.1 0.1 0.1" if half is None else " ".join(str((sum(h * h for h in half) - x * x) / 3) for x in half)
    )
    parts = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="{inertia}"/>'
        f'<geom {geom} friction="0.5 0 0"/></body>'
        for x, y, z in centres
    )
    if task.startswith("knocked"):
        at, _, radius, mass, turns = BALL
        parts += (
            f'<body pos="{at[0]} {at[1]} {at[2]}"><freejoint/><inertial pos="0 0 0" mass="{mass}" diaginertia="{turns} {turns} {turns}"/>'
            f'<geom type="sphere" size="{radius}" friction="0.5 0 0"/></body>'
        )
    xml = (
        f'<mujoco><option timestep="{step}" gravity="0 0 -9.81" cone="elliptic"><flag energy="enable"/></option>'
        f'<size memory="500M"/><worldbody><geom type="plane" size="500 500 1" friction="0.5 0 0"/>{parts}</worldbody></mujoco>'
    )
    model = mj.MjModel.from_xml_string(xml)
    data = mj.MjData(model)
    if task.startswith("knocked"):
        data.qvel[-6:-3] = BALL[1]
    mj.mj_forward(model, data)
    start, first = sum(data.energy), data.qpos[:3].copy()
    scale, deepest, growth, used = abs(start), 0.0, 0.0, 0.0
    for _ in range(round(until / step)):
        begin = time.process_time()
        mj.mj_step(model, data)
        used += time.process_time() - begin
        if data.ncon:
            deepest = max(deepest, -float(data.contact.dist[: data.ncon].min()))
        growth = max(growth, sum(data.energy) - start)
    moved = math.dist(data.qpos[:3], first) if rests(task) else math.nan
    return round(until / step) / used, deepest / 0.5, moved, growth / scale


def rapier(task):
    """rapier: iterated impulses, as it comes, but nobody sleeps and one thread."""
    try:
        import rapier3d as rp
    except ImportError:
        return "not installed"
    centres, half = bodies(task)
    until, step = STEPS[task.split("-")[0]]
    world = rp.PhysicsWorld(gravity=(0.0, 0.0, -9.81))
    world.integration_parameters.dt = step
    world.add_collider(rp.Collider.cuboid(500.0, 500.0, 1.0).translation((0.0, 0.0, -1.0)).friction(0.5))
    volume = 8 * half[0] * half[1] * half[2] if half else math.pi / 6
    handles = []
    for at in centres:
        shape = rp.Collider.cuboid(*half) if half else rp.Collider.ball(0.5)
        body = rp.RigidBody.dynamic(translation=at).can_sleep(False)
        handles.append(world.add_body(body, colliders=[shape.friction(0.5).density(1 / volume)]))
    if task.startswith("knocked"):
        at, speed, radius, mass, _ = BALL
        body = rp.RigidBody.dynamic(translation=at).can_sleep(False).linvel(speed)
        shape = rp.Collider.ball(radius).friction(0.5).density(mass / (4 / 3 * math.pi * radius**3))
        handles.append(world.add_body(body, colliders=[shape]))
    masses = [1.0] * len(centres) + [BALL[3]] * (len(handles) - len(centres))

    def state():
        return [world.rigid_bodies[h] for h in handles]

    def total(list_):
        return sum(
            m * (0.5 * sum(v * v for v in b.linvel) + 9.81 * b.translation[2]) + (0 if half else 0.05 * sum(w * w for w in b.angvel))
            for m, b in zip(masses, list_)
        )

    def depth():
        gaps = [c.dist for p in world.narrow_phase.contact_pairs() for m in p.manifolds for c in m.points]
        return -min(gaps, default=0.0)

    start, first = total(state()), tuple(state()[0].translation)
    deepest, growth, used = 0.0, 0.0, 0.0
    for k in range(round(until / step)):
        begin = time.process_time()
        world.step()
        used += time.process_time() - begin
        if k % 10 == 9:
            deepest, growth = max(deepest, depth()), max(growth, total(state()) - start)
    moved = math.dist(tuple(state()[0].translation), first) if rests(task) else math.nan
    return round(until / step) / used, deepest / 0.5, moved, growth / start


def siconos(task):
    """Siconos: exact cones by Gauss-Seidel, contacts by Bullet; as many steps as fit into a minute."""
    python = Path("/usr/bin/python3")
    known = [python, "-c", "import siconos.kernel, siconos.mechanics.collision.bullet"]
    if not python.exists() or subprocess.run(known, capture_output=True).returncode != 0:
        return "not installed"
    centres, half = bodies(task)
    until, step = STEPS[task.split("-")[0]]
    ball = BALL if task.startswith("knocked") else None
    job = {"centres": centres, "half": half, "step": step, "steps": round(until / step), "limit": 60, "ball": ball}
    script = Path(__file__).with_name("siconos_pile.py")
    done = subprocess.run([python, script], input=json.dumps(job), capture_output=True, text=True)
    if done.returncode != 0:
        return "failed: " + done.stderr.strip().splitlines()[-1]
    found = json.loads(done.stdout)
    missed = done.stderr.count("output message from numerics solver is equal to 1")
    print(f"# siconos: {found['steps']} steps, {missed} of them not solved to 1e-8 in 1 000 sweeps")
    moved = found["moved"] if rests(task) else math.nan
    return 1 / found["seconds"], math.nan, moved, found["growth"]


def main():
    tasks = sys.argv[1:] or TASKS
    print(f"{'task':<10} {'program':<8} {'steps/s':>9} {'penetration':>12} {'creep':>9} {'energy':>9}")
    for task in tasks:
        for program in (ours, mujoco, rapier, siconos):
            name = "specht" if program is ours else program.__name__
            found = program(task)
            if isinstance(found, str):
                print(f"{task:<10} {name:<8} {found}")
            else:
                speed, depth, moved, energy = found
                print(f"{task:<10} {name:<8} {speed:9.1f} {depth:12.1e} {moved:9.1e} {energy:9.1e}", flush=True)


if __name__ == "__main__":
    main()
