"""The public interface, name by name, against closed forms and the command line's own contract."""

from __future__ import annotations

import math
import os
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import specht

BLOCK = """
name        = "block on an incline"
gravity     = [0, -9.81]
parameters  = { mu = 0.3, slope = "25 deg", m = "2 kg" }
coordinates = { x = 0, y = 0 }
ground      = { plane = { through = [0, 0], normal = ["sin(slope)", "cos(slope)"] } }
body        = [{ name = "block", mass = "m", position = ["x", "y"] }]
contact     = [{ name = "sole", between = ["block", "ground.plane"], friction = "mu" }]
run         = { until = "1 s" }
output      = { speed = "sqrt(x'^2 + y'^2)" }
"""


def speed(mu: float, slope: float) -> float:
    return 9.81 * max(0.0, math.sin(slope) - mu * math.cos(slope))


def test_a_text_a_dict_a_file_and_a_name_are_machines(tmp_path: Path) -> None:
    file = tmp_path / "block.toml"
    file.write_text(BLOCK)
    as_dict = {
        "gravity": [0, -9.81],
        "coordinates": {"y": "2 m"},
        "body": [{"name": "ball", "mass": "3 kg", "position": [0, "y"]}],
        "run": {"until": 0.5},
    }
    assert specht.load(file).name == specht.load(BLOCK).name == "block on an incline"
    assert specht.load(str(file)).run()["speed"][-1] == pytest.approx(speed(0.3, math.radians(25)), rel=1e-9)
    assert specht.load(as_dict).run()["y"][-1] == pytest.approx(2 - 9.81 / 8, rel=1e-12)
    assert specht.load("rod").name in repr(specht.load("rod"))
    assert "woodpecker" in specht.gallery()
    written = tmp_path / "again.toml"
    specht.load(as_dict).save(written)
    assert specht.load(written).text == specht.to_toml(as_dict)


def test_the_readme_is_true() -> None:
    pytest.importorskip("xarray")
    readme = Path(__file__).parents[3] / "README.md"
    blocks = readme.read_text(encoding="utf-8").split("```python\n")[1:]
    assert blocks
    for block in blocks:
        exec(block.split("```")[0], {})


def test_a_byte_order_mark_and_tabs_do_no_harm() -> None:
    assert specht.load("\ufeff" + BLOCK.replace("    ", "\t")).run().status == "finished"


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.3, 0.46, 0.7])
def test_parameters_are_numbers_or_texts(mu: float) -> None:
    m = specht.load(BLOCK)
    expected = speed(mu, math.radians(30))
    assert m.with_(mu=mu, slope="30 deg").run()["speed"][-1] == pytest.approx(expected, abs=1e-9)
    assert m.with_(mu=np.float64(mu), slope=math.radians(30)).run()["speed"][-1] == pytest.approx(expected, abs=1e-9)
    assert m.with_(mu=mu).parameters["mu"].value == mu
    assert m.parameters["mu"].value == 0.3


def test_numbers_and_texts_give_the_same_run() -> None:
    m = specht.load("woodpecker")
    a, b = m.with_(mu1=0.37).run(until=0.3), m.with_(mu1="0.37").run(until=0.3)
    assert np.array_equal(a["phiS"], b["phiS"])


def test_a_run_has_series_events_audit_and_tables(tmp_path: Path) -> None:
    run = specht.load("bouncing_ball").run()
    assert run.audit["passed"] and run.status == "finished"
    assert run["y"] is run["y"], "columns are made once"
    assert not run["y"].flags.writeable
    assert len(run.t) == len(run["y"]) and run.t[0] == 0
    assert np.array_equal(run.series("3*y - y"), 3 * run["y"] - run["y"])
    assert any(e["kind"] == "impact" for e in run.events)
    assert run.final["y"] == pytest.approx(run["y"][-1])
    assert run.units["y"] == "m"
    contact = run.record["contacts"][0] if isinstance(run.record.get("contacts"), list) else None
    assert contact is None or contact
    modes = next(c for c in run.columns if c.endswith(".mode"))
    assert set(run.modes(modes)) <= {"open", "stick", "slip+", "slip-", "closed"}
    page = run.save(tmp_path / "out")
    assert page.read_text().startswith("<!") and (tmp_path / "out" / "run.json").exists()
    assert "iframe" in run._repr_html_() and "audit passed" in repr(run)


def test_tables_of_other_packages() -> None:
    run = specht.load("bouncing_ball").run()
    pandas = pytest.importorskip("pandas")
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and np.array_equal(frame["y"], run["y"])
    pytest.importorskip("xarray")
    data = run.to_xarray()
    assert data["y"].attrs["units"] == "m" and np.array_equal(data["t"], run.t)


def test_questions_are_mappings_with_words_and_pictures() -> None:
    rod = specht.load("rod")
    f = rod.painleve()
    assert f.kind == "painleve" and f["verdict"] == f.verdict and "rod" in repr(f)
    assert "<pre>" in f._repr_html_()
    assert pickle.loads(pickle.dumps(f)).data == f.data
    with pytest.raises(AttributeError, match="this finding has no"):
        f.nothing  # noqa: B018
    assert rod.ask("painleve").data == f.data


def test_every_kind_of_the_engine_is_a_method() -> None:
    from specht import _specht

    for kind, _ in _specht.kinds():
        if kind != "sweep":
            assert callable(getattr(specht.load("rod"), kind.replace("-", "_")))
    with pytest.raises(AttributeError):
        specht.load("rod").nonsense  # noqa: B018


def test_sweeps_are_grids_lists_and_samples() -> None:
    m = specht.load(BLOCK)
    s = specht.sweep(m, over={"mu": (0.0, 0.4, 5)}, record=["outputs.speed"])
    expected = [speed(mu, math.radians(25)) for mu in np.linspace(0, 0.4, 5)]
    assert s["outputs.speed"] == pytest.approx(expected, abs=1e-9)
    s = specht.sweep(m, over={"mu": [0.1, 0.2], "slope": (0.4, 0.6, 3)}, record=["outputs.speed"])
    assert len(s) == 6 and s.shape == (2, 3)
    pytest.importorskip("xarray")
    grid = s.to_xarray()
    assert float(grid["outputs.speed"].sel(mu=0.2, slope=0.5, method="nearest")) == pytest.approx(speed(0.2, 0.5), abs=1e-9)
    one = specht.sweep(m, over={"mu": (0, 0.4, 5)}, record=["outputs.speed"], jobs=1)
    two = specht.sweep(m, over={"mu": (0, 0.4, 5)}, record=["outputs.speed"], jobs=2)
    assert np.array_equal(one["outputs.speed"], two["outputs.speed"])
    drawn = specht.sweep(m, random={"mu": "normal(0.3, 0.05)"}, samples=20, seed=1, record=["outputs.speed"])
    assert len(drawn) == 20 and len(set(drawn["mu"].tolist())) == 20


def test_contact_problems() -> None:
    s = specht.solve_friction(np.eye(3), [-1.0, 0.8, 0.0], 0.5)
    assert s.success and s.r == pytest.approx([1, -0.5, 0]) and s.u == pytest.approx([0, 0.3, 0])
    planar = specht.solve_friction(np.eye(4), [-1, 0.2, -2, 3], [0.5, 0.1])
    assert planar.r == pytest.approx([1, -0.2, 2, -0.2])
    sparse = pytest.importorskip("scipy.sparse")
    again = specht.solve_friction(sparse.eye(3), [-1.0, 0.8, 0.0], 0.5)
    assert again.r == pytest.approx(s.r)


def test_complementarity_problems() -> None:
    s = specht.lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    assert s.success and s.z == pytest.approx([4 / 3, 7 / 3])
    assert specht.lcp([[-1.0]], [-1.0], all=True).status == "no_solution"


def test_machines_can_be_pickled_with_their_files(tmp_path: Path) -> None:
    (tmp_path / "pull.csv").write_text("t,F\n0,0\n1,4\n2,4\n")
    model = (
        'coordinates = { x = 0 }\nbody = [{ name = "cart", mass = "2 kg", position = "x" }]\nparameters = { k = 1 }\n'
        'define = { pull = { csv = "pull.csv", x = "t", y = "F" } }\nforce = [{ along = "x", force = "k*1 N*pull(t/1 s)" }]\nrun = { until = "2 s" }\n'
    )
    (tmp_path / "cart.toml").write_text(model)
    m = specht.load(tmp_path / "cart.toml")
    moved = pickle.dumps(m.with_(k=3))
    (tmp_path / "pull.csv").unlink()
    (tmp_path / "cart.toml").unlink()
    again = pickle.loads(moved)
    assert again.run()["x'"][-1] == pytest.approx(3 * 6 / 2, rel=1e-8)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: specht.load("woodpeker"), "did you mean `woodpecker`"),
        (lambda: specht.load(BLOCK.replace('"mu"', '"mux"')), "unknown name `mux`"),
        (lambda: specht.load(BLOCK).with_(nu=1), "nu"),
        (lambda: specht.load(BLOCK).with_(mu=float("nan")), "mu"),
        (lambda: specht.load(BLOCK).run(until=-1), "until"),
        (lambda: specht.load(BLOCK).run(until=float("nan")), "until"),
        (lambda: specht.load(BLOCK).run(scheme="magic"), "magic"),
        (lambda: specht.load(BLOCK).run()["nothing"], "nothing"),
        (lambda: specht.load(BLOCK).ask("nothing"), "no analysis"),
        (lambda: specht.load(BLOCK).painleve(nothing=1), "no key `nothing`"),
        (lambda: specht.load(BLOCK).case("nothing"), "nothing"),
        (lambda: specht.sweep(specht.load(BLOCK), over={"nu": (0, 1, 3)}, record=["status"]), "nu"),
        (lambda: specht.sweep(specht.load(BLOCK), over={"mu": [float("nan")]}, record=["status"]), "finite"),
        (lambda: specht.solve_friction(np.full((3, 3), np.nan), [0, 0, 0], 0.5), "finite"),
        (lambda: specht.solve_friction(np.eye(3), [0, 0], 0.5), "multiple"),
        (lambda: specht.solve_friction(np.eye(2), [0, 0, 0], 0.5), "expected"),
        (lambda: specht.solve_friction(np.eye(3), [[0, 0, 0]], 0.5), "dimensions"),
        (lambda: specht.solve_friction(np.eye(3), [0, 0, 0], -1), "mu"),
        (lambda: specht.lcp([[float("inf")]], [1.0]), "finite"),
        (lambda: specht.lcp(np.eye(2), [1.0]), "entries"),
        (lambda: specht.explain("nothing"), "no page"),
    ],
)
def test_bad_input_is_an_exception_that_says_what_to_do(call: Any, said: str) -> None:
    with pytest.raises(specht.SpechtError) as caught:
        call()
    assert said in str(caught.value)


def test_a_message_has_its_place_in_the_file() -> None:
    with pytest.raises(specht.SpechtError) as caught:
        specht.load(BLOCK.replace('"mu"', '"mux"'))
    assert "did you mean `mu`" in str(caught.value) and "model:8" in str(caught.value)


def test_wrong_types_are_type_errors() -> None:
    with pytest.raises(TypeError):
        specht.load(BLOCK).with_(mu=[1, 2])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        specht.to_toml({"x": object()})
    with pytest.raises(ValueError):
        specht.to_toml({"x": float("inf")})


LONG = BLOCK.replace('y = 0', 'y = "1 m"').replace('friction = "mu"', 'friction = "mu", restitution = 1')


def test_ctrl_c_ends_a_run() -> None:
    m = specht.load(LONG)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        m.run(until=1e9)
    assert time.perf_counter() - begin < 20


def test_progress_is_told_and_may_end_the_run() -> None:
    seen: list[float] = []

    def show(part: float) -> None:
        seen.append(part)
        if len(seen) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        specht.load(LONG).run(until=1e9, progress=show)
    assert len(seen) == 3 and seen == sorted(seen)


def test_threads_run_side_by_side() -> None:
    m = specht.load("woodpecker")
    out: list[Any] = [None] * 4

    def work(k: int) -> None:
        out[k] = m.with_(mu1=0.3).run(until=0.5)["phiS"]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.array_equal(o, out[0]) for o in out)


def _hang_up(seconds: float) -> None:
    """Kills the worker that runs this, as an operating system would."""
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_cluster_gives_the_same_bits_though_a_worker_is_killed() -> None:
    distributed = pytest.importorskip("dask.distributed")
    m = specht.load("woodpecker")
    asked: dict[str, Any] = dict(over={"mu1": (0.1, 0.6, 96)}, record=["final.y", "status", "final.phiS'"], until=0.5)
    alone = specht.sweep(m, jobs=1, **asked)
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            first = next(iter(client.scheduler_info()["workers"]))
            client.submit(_hang_up, 0.3, workers=[first], allow_other_workers=False, pure=False, retries=0)
            spread = specht.sweep(m, client=client, **asked)
    assert list(spread.columns) == list(alone.columns) and spread.shape == alone.shape
    for name, column in alone.columns.items():
        assert np.array_equal(column, spread[name]), name
    with pytest.raises(specht.SpechtError, match="leave out `shard`"):
        specht.sweep(m, client=object(), shard="1/2", **asked)


def test_a_closed_client_is_an_exception() -> None:
    distributed = pytest.importorskip("dask.distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        client = distributed.Client(cluster)
        client.close()
        with pytest.raises(specht.SpechtError, match="the client is closed"):
            specht.sweep(specht.load(BLOCK), over={"mu": (0, 1, 3)}, record=["status"], client=client)


def test_a_fit_finds_the_parameters_of_a_table_and_of_a_run() -> None:
    pandas = pytest.importorskip("pandas")
    line = specht.load({"parameters": {"a": 1.0, "b": 0.0}})
    x = np.linspace(0.0, 5.0, 21)
    table = pandas.DataFrame({"x": x, "y": 2.0 * x - 3.0})
    table.loc[4, "y"] = np.nan  # a gap
    found = specht.fit(line, table, ["a", "b"], residual="y - a*x - b")
    assert found.estimate["a"] == pytest.approx(2.0, abs=1e-9)
    assert found.estimate["b"] == pytest.approx(-3.0, abs=1e-9)
    block = specht.load(BLOCK)
    run = block.with_(mu=0.21).run(every=0.05)
    found = specht.fit(block, {"t": run.t[1:], "speed": run["speed"][1:]}, ["mu"])
    assert found.estimate["mu"] == pytest.approx(0.21, abs=1e-7)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({"x": [1, 2], "y": [1, 2, 3]}, specht.SpechtError, "length"),
        ({"x": ["one", "two"]}, TypeError, "numbers"),
        ({}, specht.SpechtError, "no columns"),
        (3, TypeError, "DataFrame"),
        ("nowhere.csv", specht.SpechtError, "cannot read"),
        ({"x": [1.0, 2.0, 3.0, 4.0], "z": [1.0, 2.0, 3.0, 4.0]}, specht.SpechtError, "y"),
    ],
)
def test_data_that_cannot_be_fitted_are_refused_with_a_remedy(data: Any, error: type[Exception], words: str) -> None:
    line = specht.load({"parameters": {"a": 1.0, "b": 0.0}})
    with pytest.raises(error, match=words):
        specht.fit(line, data, ["a", "b"], residual="y - a*x - b")


def test_a_sweep_is_kept_in_a_folder_and_opened_without_reading_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from specht import _sweep

    monkeypatch.setattr(_sweep, "BLOCK", 5)  # several parts
    m = specht.load(BLOCK)
    asked: dict[str, Any] = dict(over={"mu": (0, 0.6, 4), "slope": (0.1, 0.5, 3)}, record=["outputs.speed", "status"], until=0.2)
    plain = specht.sweep(m, **asked)
    kept = specht.sweep(m, store=tmp_path / "result.zarr", **asked)
    again = specht.open_sweep(tmp_path / "result.zarr")
    for result in (kept, again):
        assert isinstance(result["outputs.speed"], np.memmap)
        assert result["outputs.speed"].tobytes() == plain["outputs.speed"].tobytes()
        assert list(result["status"]) == list(plain["status"])
        assert result.shape == (4, 3) and result.failed == plain.failed
    speeds = again.to_xarray()["outputs.speed"]
    assert np.array_equal(speeds, plain.to_xarray()["outputs.speed"])
    with pytest.raises(specht.SpechtError, match="not a result"):
        specht.open_sweep(tmp_path)
    (tmp_path / "mine").mkdir()
    with pytest.raises(specht.SpechtError, match="choose another name"):
        specht.sweep(m, store=tmp_path / "mine", **asked)


def test_a_kept_sweep_is_read_as_zarr(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    m = specht.load(BLOCK)
    kept = specht.sweep(m, over={"mu": (0, 0.6, 4), "slope": (0.1, 0.5, 3)}, record=["outputs.speed"], until=0.2, store=tmp_path / "r.zarr")
    seen = xarray.open_zarr(tmp_path / "r.zarr", consolidated=False)["outputs.speed"]
    assert seen.dims == ("slope", "mu")
    assert np.array_equal(seen.T, kept.to_xarray()["outputs.speed"])
