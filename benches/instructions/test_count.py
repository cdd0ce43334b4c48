"""`python3 -m unittest discover benches/instructions`"""

import unittest

import count


class Counting(unittest.TestCase):
    def test_totals_are_read(self):
        self.assertEqual(count.parse("version: 1\nsummary: 12345\n"), 12345)
        self.assertEqual(count.parse("fn=x\n1 2\ntotals: 99\n"), 99)

    def test_what_leaves_the_tolerance_is_named(self):
        before = {"a": 1000, "b": 1000, "c": 1000, "gone": 5}
        lines, left = count.compare({"a": 1039, "b": 1041, "c": 959, "new": 7}, before)
        self.assertEqual(left, ["b", "c", "gone", "new"])
        self.assertEqual(len(lines), 5)


if __name__ == "__main__":
    unittest.main()
