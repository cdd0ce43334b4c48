"""Medians, spreads and how often to repeat.

Takes numbers, gives numbers; knows nothing of programs and matrices.
"""

import math


def median(values):
    """The middle of the values, or the mean of the two in the middle."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def summary(values):
    """Median, smallest, largest and number of the values that are there; None if none is."""
    there = [v for v in values if v is not None]
    if not there:
        return None
    return {"median": median(there), "min": min(there), "max": max(there), "runs": len(there)}


def repetitions(seconds, asked):
    """How often a run that takes so long is repeated: as asked below 20 s, fewer above. 0: the first run has to do."""
    if seconds < 20.0:
        return asked
    if seconds < 60.0:
        return min(asked, 2)
    return 0


def rotated(items, by):
    """The items in the same cyclic order, begun elsewhere, so that none has always the same neighbour's heat or always goes first."""
    items = list(items)
    if not items:
        return items
    by %= len(items)
    return items[by:] + items[:by]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def plain(value):
    """The same, with numbers that JSON has no form for as text."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value
