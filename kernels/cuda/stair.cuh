// The staircase of a panel, passed to a kernel by value: nothing has to be copied to the device for it.
#pragma once

// Columns of a panel at most; kernels/src/device/mod.rs has the same number.
#define MOST_COLUMNS 128

// Leading rows of each column that may be nonzero; never fewer than in the column before.
struct Stair {
    int rows[MOST_COLUMNS];
};
