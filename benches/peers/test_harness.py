"""Tests of what needs no solver: figures, choice of settings, records, answers, tables. `python3 -m unittest discover benches/peers`."""

import json
import random
import statistics
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import answers, catalogue, figures, machine, pages, peaks, records, running, summaries, tables  # noqa: E402
from harness.scouting import PATIENCE, Scout, scout_mkl, scout_spqr, worth_repeating  # noqa: E402
from harness.settings import Programs, Setting, clean_environment, command  # noqa: E402

X, H = Setting("treeqr", 2, False), Setting("treeqr", 2, True)
SPQR = Setting("spqr", 2, True, "metis", True, "openblas")
MKL = Setting("mkl", 2)


def record(setting, total, factorize=None, **more):
    """A run that ended; sizes and norms of a small problem unless said."""
    told = {
        "setting": setting.name,
        "rows": 300,
        "cols": 100,
        "read_s": 0.0,
        "analyse_s": 0.0,
        "factorize_s": total / 2 if factorize is None else factorize,
        "solve_s": 0.0,
        "total_s": total,
        "wall_s": total,
        "peak_rss_bytes": 10_000_000,
        "rank": 100,
        "norm_a": 10.0,
        "norm_b": 17.0,
        "norm_x": 2.0,
        "norm_r": 5.0,
    }
    return told | more


class Figures(unittest.TestCase):
    def test_median_is_that_of_the_library(self):
        draw = random.Random(7)
        for count in range(1, 30):
            values = [draw.uniform(-1, 1) for _ in range(count)]
            self.assertAlmostEqual(figures.median(values), statistics.median(values))
        with self.assertRaises(ValueError):
            figures.median([])

    def test_a_summary_leaves_out_what_is_not_there(self):
        self.assertEqual(figures.summary([3.0, None, 1.0, 8.0]), {"median": 3.0, "min": 1.0, "max": 8.0, "runs": 3})
        self.assertIsNone(figures.summary([None]))

    def test_long_runs_are_repeated_less(self):
        often = [figures.repetitions(s, 7) for s in (0.1, 19.9, 20.0, 59.0, 60.0, 500.0)]
        self.assertEqual(often, [7, 7, 2, 2, 0, 0])
        self.assertEqual(figures.repetitions(30.0, 1), 1)

    def test_every_setting_goes_first_in_turn(self):
        orders = [figures.rotated("abc", k) for k in range(6)]
        self.assertEqual(["".join(o) for o in orders], ["abc", "bca", "cab"] * 2)

    def test_what_json_cannot_say_is_text(self):
        said = json.dumps(figures.plain({"x": [float("nan"), float("-inf"), 1.0]}), allow_nan=False)
        self.assertEqual(json.loads(said), {"x": ["nan", "-inf", 1.0]})


class Commands(unittest.TestCase):
    programs = Programs("/t/treeqr", "/t/spqr", "/t/mkl_qr", "/t/lib", None, frozenset(["--keep-q"]))

    def test_nothing_of_the_shell_decides(self):
        shell = {"OPENBLAS_CORETYPE": "Prescott", "MKL_NUM_THREADS": "9", "LD_PRELOAD": "x", "PATH": "/bin", "OMP_NUM_THREADS": "3"}
        self.assertEqual(clean_environment(shell), {"PATH": "/bin"})
        _, env = command(SPQR, "a.mtx", self.programs, shell)
        self.assertEqual(env, {"PATH": "/bin", "OPENBLAS_NUM_THREADS": "2"})

    def test_what_each_setting_means(self):
        argv, env = command(Setting("spqr", 1, False, "amd", False, "mkl"), "a.mtx", self.programs, {})
        self.assertEqual(argv, ["/t/spqr", "a.mtx", "amd", "x", "none", "1"])
        self.assertEqual((env["LD_PRELOAD"], env["MKL_THREADING_LAYER"]), ("/t/lib/libmkl_rt.so.3", "SEQUENTIAL"))
        _, env = command(MKL, "a.mtx", self.programs, {})
        self.assertNotIn("LD_PRELOAD", env)
        self.assertIn("--keep-q", command(H, "a.mtx", self.programs, {})[0])
        self.assertNotIn("--keep-q", command(X, "a.mtx", self.programs, {})[0])

    def test_names_tell_settings_apart(self):
        every = [
            Setting("spqr", t, k, o, tol, b)
            for t in (1, 2)
            for k in (False, True)
            for o in ("metis", "amd")
            for tol in (False, True)
            for b in ("openblas", "mkl")
        ]
        every += [X, H, MKL, Setting("mkl", 1)]
        for key in ("name", "label", "short"):
            said = {(s.solver, getattr(s, key)) for s in every}
            self.assertEqual(len(said), len(every), key)


class Records(unittest.TestCase):
    def test_ours_gets_the_common_names(self):
        times = {"read": 1.0, "analyse": 2.0, "factorize": 4.0, "solve": 8.0, "total": 99.0}
        said = {"matrix": {"rows": 3, "cols": 2, "nnz": 4}, "times_s": times, "solution_norm": 1.5, "residual_norm": 0.5, "rank": 2}
        found = records.parse("treeqr", json.dumps(said))
        self.assertEqual((found["total_s"], found["checked_s"], found["norm_x"], found["rows"]), (15.0, 99.0, 1.5, 3))

    def test_a_line_among_others_is_found_and_half_a_one_refused(self):
        line = json.dumps(record(MKL, 1.0)).replace("2.0", "Infinity")
        found = records.parse("mkl", f"a note\n{line}\n")
        self.assertEqual(found["norm_x"], float("inf"))
        for text in ("", "note", line[:40], f"{line}\n{line}", '{"read_s": 1}'):
            with self.assertRaises(ValueError, msg=text):
                records.parse("mkl", text)


class Answers(unittest.TestCase):
    def said(self, wide=False, **records):
        return answers.remarks(records, wide)

    def test_equal_answers_are_left_alone(self):
        close = record(SPQR, 1, norm_r=5.0 * (1 + 1e-9))
        self.assertEqual(self.said(treeqr=record(X, 1), spqr=close), {})
        rounding = [record(X, 1, norm_r=1e-12), record(SPQR, 1, norm_r=3e-11)]
        self.assertEqual(self.said(treeqr=rounding[0], spqr=rounding[1]), {})

    def test_what_differs_is_told_of_the_one_that_is_off(self):
        said = self.said(treeqr=record(X, 1), spqr=record(SPQR, 1, rank=101, norm_r=5.1), mkl=record(MKL, 1, norm_x=1e13))
        self.assertEqual(set(said), {"spqr", "mkl"})
        self.assertEqual(len(said["spqr"]), 2)
        self.assertIn("1.0e+13", said["mkl"][0])
        self.assertIn("treeqr", self.said(treeqr=record(X, 1, norm_r=6.0), spqr=record(SPQR, 1)))

    def test_an_x_that_explodes_hides_no_residual(self):
        said = self.said(treeqr=record(X, 1), spqr=record(SPQR, 1, norm_x=1e16, norm_r=4e3))
        self.assertEqual(len(said["spqr"]), 2)

    def test_failures_and_no_numbers(self):
        said = self.said(spqr={"setting": "s", "error": "exit 1"}, mkl=record(MKL, 1, norm_x=float("nan")))
        self.assertEqual(said, {"spqr": ["exit 1"], "mkl": ["x is not finite"]})

    def test_the_transposed_problem_is_not_compared(self):
        said = self.said(True, treeqr=record(H, 1), mkl=record(MKL, 1, norm_r=900.0, transposed=True))
        self.assertEqual(len(said["mkl"]), 1)
        self.assertIn("transpose", said["mkl"][0])

    def test_a_wide_matrix_has_one_shortest_x(self):
        both = {"treeqr": record(H, 1), "spqr": record(SPQR, 1, norm_x=2.1)}
        self.assertIn("spqr", self.said(True, **both))
        self.assertEqual(self.said(False, **both), {})


class Scouting(unittest.TestCase):
    def scout(self, time, wide=False, threads=2, **more):
        """A scout of solvers that take `time(setting)` seconds; None: they fail."""

        def run(setting, cutoff):
            seconds = time(setting)
            if seconds is None:
                return {"setting": setting.name, "error": "exit 1", "wall_s": 0.1}
            if cutoff is not None and seconds > cutoff:
                return {"setting": setting.name, "error": "stopped", "stopped_after_s": cutoff}
            return record(setting, seconds, rank=100)

        scout = Scout(run, threads, wide, **more)
        scout_mkl(scout)
        scout_spqr(scout, True)
        return scout

    def test_the_best_combination_is_found_step_by_step(self):
        def time(s):
            if s.solver == "mkl":
                return 3.0
            cost = {"metis": 2.0, "colamd": 1.0, "amd": 2.5, "best": 4.0}[s.ordering]
            return cost * (1.0 if s.keeps_h else 0.9) * (1.0 if s.tolerance else 0.8) * (0.7 if s.blas == "mkl" else 1.0) * (2 - s.threads / 2)

        chosen = worth_repeating(self.scout(time))
        best = Setting("spqr", 2, False, "colamd", False, "mkl")
        self.assertEqual(chosen[0], best)
        self.assertTrue(any(s.solver == "spqr" and s.keeps_h for s in chosen), "one that keeps H, too")
        self.assertFalse(any(s.solver == "mkl" for s in chosen), "hopeless in both")

    def test_wide_matrices_keep_h(self):
        scout = self.scout(lambda s: 1.0, wide=True)
        self.assertTrue(all(s.keeps_h for s in scout.tried))

    def test_the_slow_are_stopped_and_failures_are_no_choice(self):
        scout = self.scout(lambda s: None if s.solver == "mkl" else 4.0 if s.ordering == "metis" else 400.0)
        self.assertEqual({s.ordering for s in worth_repeating(scout)}, {"metis"})
        stopped = [r for r in scout.records if r.get("stopped_after_s")]
        self.assertTrue(stopped and all(r["stopped_after_s"] == PATIENCE * 4.0 for r in stopped))
        self.assertEqual(worth_repeating(self.scout(lambda s: None)), [])

    def test_the_budget_leaves_the_rest_untried(self):
        scout = self.scout(lambda s: 50.0, budget_s=60.0)
        self.assertTrue({s.ordering for s in scout.tried if s.solver == "spqr"} >= {"metis"})
        self.assertIn("spqr-amd-openblas-h-t2", scout.skipped)

    def test_on_one_core_nothing_is_run_twice(self):
        scout = self.scout(lambda s: 1.0, threads=1)
        self.assertEqual(len(scout.records), len({r["setting"] for r in scout.records}))


def result(name="m", wide=False, runs=(), scouts=(), settings=(X, SPQR, MKL)):
    told = {"name": name, "rows": 300, "cols": 100, "wide": wide, "runs": list(runs), "scouts": list(scouts)}
    told["settings"] = {s.name: s.facts() for s in settings}
    told["summary"] = summaries.matrix(told, told["settings"], {"one": 50.0, "all": 100.0})
    return told


class Tables(unittest.TestCase):
    def setUp(self):
        self.result = result(
            scouts=[record(X, 9.0), record(SPQR, 9.0), record(MKL, 0.1, norm_x=1e12)],
            runs=[record(X, t, t / 2, flops=5e10) for t in (1.0, 2.0, 1.2)] + [record(SPQR, t, 3.0) for t in (4.0, 3.0, 3.6)],
        )

    def test_ratios_are_of_medians(self):
        best = self.result["summary"]["best"]["any"]
        self.assertEqual(best["total_s"]["by_solver"], {"spqr": SPQR.name, "mkl": MKL.name})
        self.assertEqual(best["total_s"]["peer"], MKL.name)
        self.assertAlmostEqual(best["total_s"]["ratio"], 0.1 / 1.2)
        told = self.result["summary"]["settings"][X.name]
        self.assertAlmostEqual(told["gflops"], 5e10 / 0.6 * 1e-9)
        self.assertAlmostEqual(told["part_of_peak"], told["gflops"] / 100.0)
        self.assertIsNone(self.result["summary"]["best"]["h"]["treeqr"], "H was not kept by treeqr")

    def test_a_peer_without_an_answer_is_not_the_best(self):
        bad = result(scouts=[record(MKL, 0.1, norm_x=float("inf"))], runs=[record(X, 1.0), record(SPQR, 3.0)])
        self.assertEqual(bad["summary"]["best"]["any"]["total_s"]["peer"], SPQR.name)
        self.assertIn("| x not finite |", tables.total_table([bad]))

    def test_the_report_says_all(self):
        data = {
            "start": {"time": "2026-01-02 03:04:05 +0000", "load": [0.1, 0, 0]},
            "end": {"time": "", "load": [2.0, 0, 0]},
            "machine": {"cpu": "C", "cpu_family_model": "6/1", "cores": 2, "virtual": True, "caches": [], "memory_bytes": 8e9, "os": "D"},
            "versions": {"treeqr": "1"},
            "peaks": {
                "products": [{"blas": "mkl", "best": 100.0, "threads": 2}],
                "openblas_core_type": "its own choice",
                "peak_gflops": {"one": 50.0, "all": 100.0},
            },
            "disturbances": ["a compiler"],
            "missing": ["Foo: no file"],
            "matrices": [self.result],
        }
        text = tables.report(data)
        for part in ("1.20 (1.00 – 2.00)", "3.60 (3.00 – 4.00), METIS H 2", "0.100 †, 2, once", "**0.08**", "83 (83 %)", "Not quiet", "Foo: no file"):
            self.assertIn(part, text)
        self.assertIn("MKL (2): ||x|| 1.0e+12", text.replace("\\|", "|"))
        for made in (tables.overview_table, tables.total_table, tables.memory_table):
            columns = [line.count("|") for line in made([self.result]).splitlines()]
            self.assertEqual(len(set(columns)), 1, "a cell too many or too few")

    def test_the_overview_has_the_ratios_and_the_least_memory(self):
        last = tables.overview_table([self.result]).splitlines()[-1]
        cells = [cell.strip() for cell in last.strip("|").split("|")]
        self.assertEqual(cells[1:], ["**0.08**", "**0.08**", "83 %", "–", "–", "–", "–"])
        memory = {H: 30e6, SPQR: 50e6, MKL: 40e6}
        kept = result(runs=[record(s, 1.0, peak_rss_bytes=bytes) for s, bytes in memory.items()], settings=tuple(memory))
        self.assertTrue(tables.overview_table([kept]).endswith("| **1.00** | **1.00** | – | 30 / 40 |"))

    def test_a_matrix_on_which_treeqr_failed_has_its_line(self):
        failed = result(scouts=[{"setting": X.name, "error": "exit 2"}, record(SPQR, 1.0)], settings=(X, SPQR))
        self.assertIn("| failed |", tables.total_table([failed]))
        self.assertIn("not run", tables.total_table([failed]))

    def test_the_page_changes_between_its_markers_only(self):
        page = f"a\n{pages.BEGIN}\nold\n{pages.END}\nb\n"
        new = pages.replaced(page, "new\n")
        self.assertEqual(new, f"a\n{pages.BEGIN}\n\nnew\n\n{pages.END}\nb\n")
        self.assertEqual(pages.replaced(new, "new"), new)
        for bad in ("", pages.BEGIN, pages.END + pages.BEGIN, page + page):
            with self.assertRaises(ValueError):
                pages.replaced(bad, "new")
        docs = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
        pages.replaced(docs.read_text(encoding="utf-8"), "new")


class Machine(unittest.TestCase):
    def test_disturbances(self):
        rest, work = {"load": [0.2]}, {"load": [2.1]}
        runs = [{"wall_s": 2.0, "other_cpu_s": 0.02}]
        self.assertEqual(machine.disturbances(rest, work, 2, runs), [])
        self.assertEqual(len(machine.disturbances({"load": [1.0]}, {"load": [3.5]}, 2, [])), 2)
        busy = [{"wall_s": 2.0, "other_cpu_s": 0.5 * machine.cores()}]
        self.assertIn("25 %", machine.disturbances(rest, work, 2, busy)[0])

    def test_processor_time_leaves_out_idleness(self):
        hertz = running.os.sysconf("SC_CLK_TCK")
        self.assertEqual(running.busy_cpu_s("cpu  1 2 4 1000 1000 8 16 32 0 0\n"), 63 / hertz)

    def test_the_own_choice_of_core_type_stays_unless_clearly_slower(self):
        self.assertIsNone(peaks.core_type([(None, 100.0), ("SkylakeX", 102.0), ("Haswell", 60.0)]))
        self.assertEqual(peaks.core_type([(None, 50.0), ("SkylakeX", 102.0)]), "SkylakeX")
        self.assertIsNone(peaks.core_type([(None, 0.0)]))


class Catalogue(unittest.TestCase):
    def test_sets(self):
        default = {e.name for e in catalogue.chosen("default")}
        self.assertTrue({e.name for e in catalogue.chosen("small")} < default < {e.name for e in catalogue.chosen("all")})
        self.assertEqual(len(catalogue.CATALOGUE), len({e.name for e in catalogue.CATALOGUE}))
        self.assertTrue(all(e.gallery or e.stem for e in catalogue.CATALOGUE))
        self.assertEqual([e.name for e in catalogue.chosen("default", ["TF12", "TF15"])], ["TF12", "TF15"])

    def test_files_come_before_the_gallery_and_are_unpacked(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as into:
            text = "%%MatrixMarket matrix coordinate real general\n% c\n3 2 1\n1 1 5\n"
            with catalogue.gzip.open(Path(folder) / "gen_TF15.mtx.gz", "wt") as file:
                file.write(text)
            entry = catalogue.chosen("default", ["TF15"])[0]
            path, source = catalogue.prepare(entry, folder, into, "false")
            self.assertEqual((path.read_text(), source), (text, "file gen_TF15.mtx.gz"))
            self.assertEqual(catalogue.dimensions(path), (3, 2))
            missing, why = catalogue.prepare(catalogue.chosen("default", ["Maragal_4"])[0], folder, into, "false")
            self.assertIsNone(missing)
            self.assertIn("Maragal_4.mtx", why)


if __name__ == "__main__":
    unittest.main()
