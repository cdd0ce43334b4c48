"""The table of a device's runs, from made-up lines."""

import json
import os
import tempfile
import unittest

import table


def run(matrix, who, scheduler, seconds, devices=(), failure=None):
    return {
        "matrix_name": matrix,
        "who": who,
        "asked": scheduler,
        "times_s": {"factorize": seconds, "total": seconds + 1},
        "normal_residual": 2e-16,
        "occupancy": 0.5,
        "devices": list(devices),
        "device_failure": failure,
    }


DEVICE = {
    "tasks": 7,
    "fetched_bytes": 1e9,
    "prefetched_bytes": 2e9,
    "peer_bytes": 25e7,
    "returned_bytes": 5e8,
    "written_back_bytes": 0,
}


class TableTest(unittest.TestCase):
    def test_runs_are_held_against_the_cpu_of_the_same_matrix(self):
        rows = table.runs(
            [
                run("a", "warm-up", "dmda", 9.0),
                run("a", "cpu", "lws", 3.0),
                run("a", "both", "dmda", 8.0, [DEVICE]),
                run("a", "device", "dmdas", 2.0, [DEVICE]),
                run("a", "both", "dmda", 1.5, [DEVICE]),
                run("a", "both", "dmda", 0.5, [DEVICE]),
                run("b", "device", "dmdas", 4.0, [DEVICE], "cuda0: lost"),
            ]
        )
        self.assertEqual(len(rows), 2 + 4)
        # The median of three.
        self.assertEqual(rows[3], "| a | both | dmda | 1.500 | 3 | 2.00 | 1.33 | 2.50 | 2.0e-16 | 50 % | 7 | 3.25 | 0.50 |")
        self.assertTrue(rows[5].startswith("| b | device (fell back) | dmdas | 4.000 | 1 | – | – |"))

    def test_kernels_are_held_against_the_product(self):
        kernel = {"scalar": "f64", "nb": 256, "ib": 32}
        rows = table.kernels([dict(kernel, kernel="gemm", gflops=200.0), dict(kernel, kernel="geqrt", gflops=50.0)])
        self.assertEqual(rows[3], "| f64 | 256 | 32 | geqrt | 50 | 25 % |")

    def test_a_folder_with_gaps_makes_a_table(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("not run", table.table(folder))
            with open(os.path.join(folder, "runs.jsonl"), "w") as file:
                file.write("SKIPPED: no device\n" + json.dumps(run("a", "cpu", "lws", 3.0)) + "\n")
            self.assertIn("| a | cpu | lws | 3.000 | 1 | 1.00 | – |", table.table(folder))


if __name__ == "__main__":
    unittest.main()
