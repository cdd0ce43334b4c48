"""`python3 -m unittest discover benches/growth`"""

import unittest

import growth


class Fits(unittest.TestCase):
    def test_a_power_is_found(self):
        slope, error = growth.fit([(x, 3.0 * x**1.5) for x in (10, 100, 500, 2000)])
        self.assertAlmostEqual(slope, 1.5)
        self.assertLess(error, 1e-12)

    def test_scatter_shows_in_the_error(self):
        slope, error = growth.fit([(1, 1.0), (10, 12.0), (100, 95.0), (1000, 1100.0)])
        self.assertLess(abs(slope - 1.0), 3 * error)
        self.assertGreater(error, 0.005)

    def test_the_largest_two_decide_the_last_slope(self):
        self.assertAlmostEqual(growth.last_slope([(100, 10000.0), (1, 7.0), (10, 10.0)]), 3.0)

    def test_the_page_keeps_what_is_around(self):
        page = f"a\n{growth.BEGIN}\nold\n{growth.END}\nb\n"
        self.assertEqual(growth.into_page(page, "new"), f"a\n{growth.BEGIN}\n\nnew\n\n{growth.END}\nb\n")


if __name__ == "__main__":
    unittest.main()
