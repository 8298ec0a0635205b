"""One pile of `compare.py` by Siconos, in a process of its own: it needs Debian's own Python (python3-siconos).

Reads {centres, half, step, steps, limit, ball} as JSON and writes seconds of processor time a step, how many were done within the limit, the way of
the first body and the largest growth of energy. Moreau and Jean's scheme with θ = 1/2, contacts by Bullet, the contact problem by Gauss–Seidel to 1e-8 or 1 000 sweeps.
"""

import json
import os
import sys
import time

import numpy as np
import siconos.kernel as sk
from siconos.mechanics.collision import RigidBodyDS, SiconosBox, SiconosContactor, SiconosContactorSet, SiconosSphere
from siconos.mechanics.collision.bullet import SiconosBulletCollisionManager, SiconosBulletOptions

TASK = json.load(sys.stdin)
# what the library says goes where messages go
OUT = os.dup(1)
os.dup2(2, 1)


def inertia(half):
    return [(sum(h * h for h in half) - x * x) / 3 for x in half] if half else [0.1] * 3


def main():
    step, steps = TASK["step"], TASK["steps"]
    nsds = sk.NonSmoothDynamicalSystem(0, (steps + 2) * step)
    keep, bodies = [], []

    def add(shape, at, speed, mass, turns):
        body = RigidBodyDS(list(at) + [1, 0, 0, 0], list(speed) + [0, 0, 0], mass, np.diag(turns))
        contactors = SiconosContactorSet()
        contactors.append(SiconosContactor(shape))
        body.setContactors(contactors)
        weight = [0, 0, -9.81 * mass]
        body.setFExtPtr(weight)
        keep.extend([contactors, weight])
        nsds.insertDynamicalSystem(body)
        bodies.append((body, mass, turns))

    half = TASK["half"]
    skin = SiconosBox(*[2 * h for h in half]) if half else SiconosSphere(0.5)
    floor = SiconosBox(1000, 1000, 2)
    for shape in (skin, floor):
        shape.setInsideMargin(0)
        shape.setOutsideMargin(0)
    for at in TASK["centres"]:
        add(skin, at, (0, 0, 0), 1.0, inertia(half))
    if TASK["ball"]:
        at, speed, radius, mass, turns = TASK["ball"]
        ball = SiconosSphere(radius)
        keep.append(ball)
        add(ball, at, speed, mass, [turns] * 3)

    options = SiconosBulletOptions()
    options.contactBreakingThreshold = 0.01
    manager = SiconosBulletCollisionManager(options)
    manager.insertNonSmoothLaw(sk.NewtonImpactFrictionNSL(0.0, 0.0, 0.5, 3), 0, 0)
    ground = SiconosContactorSet()
    ground.append(SiconosContactor(floor))
    manager.insertStaticContactorSet(ground, [0, 0, -1, 1, 0, 0, 0])
    problem = sk.FrictionContact(3)
    problem.numericsSolverOptions().iparam[0] = 1000
    problem.numericsSolverOptions().dparam[0] = 1e-8
    problem.setMaxSize(100_000)
    problem.setMStorageType(1)
    problem.setNumericsVerboseMode(False)
    problem.setKeepLambdaAndYState(True)
    simulation = sk.TimeStepping(nsds, sk.TimeDiscretisation(0, step))
    simulation.insertInteractionManager(manager)
    simulation.insertIntegrator(sk.MoreauJeanOSI(0.5))
    simulation.insertNonSmoothProblem(problem)
    simulation.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    simulation.setNewtonMaxIteration(1)

    def energy():
        total = 0.0
        for body, mass, turns in bodies:
            v, q = np.array(body.velocity()), np.array(body.q())
            total += 0.5 * mass * v[:3] @ v[:3] + 0.5 * np.array(turns) @ v[3:] ** 2 + 9.81 * mass * q[2]
        return total

    start, first = energy(), np.array(bodies[0][0].q())[:3].copy()
    used, growth = 0.0, 0.0
    # the first step, from nothing, is left out
    done = 0
    for k in range(steps + 1):
        if used > TASK["limit"]:
            break
        begin = time.process_time()
        simulation.computeOneStep()
        simulation.nextStep()
        used += time.process_time() - begin if k > 0 else 0.0
        done = max(k, 1)
        growth = max(growth, energy() - start)
    moved = float(np.linalg.norm(np.array(bodies[0][0].q())[:3] - first))
    answer = {"seconds": used / done, "steps": done, "moved": moved, "growth": growth / abs(start)}
    os.write(OUT, json.dumps(answer).encode())


main()
