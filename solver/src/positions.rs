//! Positions among the values of a matrix, of four bytes each where these are few enough.

use std::ops::Range;

/// A list of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Positions {
    /// All below 2^32.
    Short(Vec<u32>),
    /// Others.
    Long(Vec<usize>),
}

/// A part of a list, to be written.
pub(crate) enum PositionsMut<'a> {
    Short(&'a mut [u32]),
    Long(&'a mut [usize]),
}

impl Default for Positions {
    fn default() -> Self {
        Positions::Short(Vec::new())
    }
}

impl Positions {
    /// So many zeros, which may become positions among `values` values.
    pub fn zeros(len: usize, values: usize) -> Self {
        match u32::try_from(values) {
            Ok(_) => Positions::Short(vec![0; len]),
            Err(_) => Positions::Long(vec![0; len]),
        }
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        match self {
            Positions::Short(list) => list.len(),
            Positions::Long(list) => list.len(),
        }
    }

    /// One of them.
    #[inline(always)]
    pub fn at(&self, k: usize) -> usize {
        match self {
            Positions::Short(list) => list[k] as usize,
            Positions::Long(list) => list[k],
        }
    }

    /// Some of them.
    #[inline(always)]
    pub fn range(&self, range: Range<usize>) -> impl Iterator<Item = usize> {
        range.map(|k| self.at(k))
    }

    /// All, to be written.
    pub fn as_mut(&mut self) -> PositionsMut<'_> {
        match self {
            Positions::Short(list) => PositionsMut::Short(list),
            Positions::Long(list) => PositionsMut::Long(list),
        }
    }
}

impl From<Vec<usize>> for Positions {
    fn from(list: Vec<usize>) -> Self {
        match list.iter().map(|&p| u32::try_from(p)).collect() {
            Ok(short) => Positions::Short(short),
            Err(_) => Positions::Long(list),
        }
    }
}

impl<'a> PositionsMut<'a> {
    /// The first `len`, and the rest.
    pub fn split_at(self, len: usize) -> (Self, Self) {
        match self {
            PositionsMut::Short(list) => {
                let (first, rest) = list.split_at_mut(len);
                (PositionsMut::Short(first), PositionsMut::Short(rest))
            }
            PositionsMut::Long(list) => {
                let (first, rest) = list.split_at_mut(len);
                (PositionsMut::Long(first), PositionsMut::Long(rest))
            }
        }
    }

    /// Writes one.
    ///
    /// # Panics
    /// When it is beyond the values that the list was made for.
    #[inline(always)]
    pub fn set(&mut self, k: usize, position: usize) {
        match self {
            PositionsMut::Short(list) => {
                list[k] = u32::try_from(position).expect("a position among the values");
            }
            PositionsMut::Long(list) => list[k] = position,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = u32::MAX as usize + 1;

    #[test]
    fn short_and_long_lists_hold_what_is_written() {
        for (values, far) in [(100, 99), (MANY, MANY - 1)] {
            let mut list = Positions::zeros(5, values);
            assert_eq!(matches!(list, Positions::Short(_)), values < MANY);
            let (mut first, mut rest) = list.as_mut().split_at(2);
            first.set(1, far);
            rest.set(2, 7);
            let all: Vec<usize> = list.range(0..list.len()).collect();
            assert_eq!(all, [0, far, 0, 0, 7]);
            assert_eq!((list.at(1), list.len()), (far, 5));
        }
    }

    #[test]
    fn a_list_is_as_short_as_it_can_be() {
        let short = Positions::from(vec![3, MANY - 1]);
        assert_eq!(short, Positions::Short(vec![3, u32::MAX]));
        let long = Positions::from(vec![3, MANY]);
        assert_eq!(long, Positions::Long(vec![3, MANY]));
    }

    #[test]
    #[should_panic(expected = "a position among the values")]
    fn nothing_is_cut_off() {
        Positions::zeros(1, 100).as_mut().set(0, MANY);
    }
}
