"""`python3 -m unittest discover benches/layout`"""

import re
import unittest

import entered


class Beginnings(unittest.TestCase):
    def test_marks_of_crates_and_shared_functions_are_left_open(self):
        name = "_RINvNtCs8B06p79EkYI_14treeqr_kernels6packed12apply_packeddECshyl9dyHTaHT_6treeqr"
        open_marks = "_RINvNtCs*_14treeqr_kernels6packed12apply_packeddECs*_6treeqr"
        self.assertEqual(entered.beginning(name), open_marks)
        self.assertEqual(entered.beginning(name + ".llvm.123"), open_marks)

    def test_a_long_name_is_cut(self):
        self.assertEqual(entered.beginning("_R" + "x" * 400), "_R" + "x" * (entered.LONGEST - 2))

    def test_the_list_is_of_beginnings(self):
        lines = entered.LIST.read_text().splitlines()
        self.assertEqual(lines, sorted(set(lines)))
        for line in lines:
            self.assertTrue(re.fullmatch(r"_[RZ][\w.$*]+", line), line)
            self.assertEqual(entered.beginning(line), line)
        # The subtrees of every run.
        self.assertTrue(any("do_subtree" in line for line in lines))


if __name__ == "__main__":
    unittest.main()
