//! The dead columns of R, dense: taken from the nodes that have one, without R as a whole.

use super::nodes::Nodes;
use super::reach::NONE;
use crate::numeric::{FactorScalar, Factors};

impl<T: FactorScalar> Factors<T> {
    /// The dead columns of R, in the order of their places, into columns of `ld` zeros: entries at the live pivots. O(sum of the nodes'
    /// columns), and what is copied.
    pub(crate) fn put_dead_parts(&self, out: &mut [T], ld: usize) {
        let Some(deficiency) = &self.deficiency else {
            return;
        };
        let nodes = Nodes::new(self);
        let mut number = vec![NONE; deficiency.order.len()];
        for (k, &place) in deficiency.dead.iter().enumerate() {
            number[place as usize] = k as u32;
        }
        let end = (deficiency.dead.last()).map_or(0, |&place| nodes.owner(place) + 1);
        let mut row = 0;
        let mut found: Vec<(usize, u32)> = Vec::new();
        for node in 0..end {
            found.clear();
            let mut j = 0;
            let look = |place: u32| {
                if number[place as usize] != NONE {
                    found.push((j, number[place as usize]));
                }
                j += 1;
            };
            let mut put = |k: u32, from: usize, values: &[T]| {
                let column = &mut out[k as usize * ld..][..ld];
                column[row + from..][..values.len()].copy_from_slice(values);
            };
            if let Some(done) = &deficiency.nodes[node] {
                (done.cols.iter()).map(|&c| nodes.place(c)).for_each(look);
                let r = done.view(&deficiency.store);
                for &(j, k) in &found {
                    put(k, 0, r.column(j, done.before(j + 1)));
                }
                row += done.live.len();
                continue;
            }
            nodes.for_each_place(node, look);
            match nodes.front_r(node).filter(|_| !found.is_empty()) {
                Some(r) => {
                    for &(j, k) in &found {
                        r.column(j, |from, values| put(k, from, values));
                    }
                }
                None if found.is_empty() => {}
                None => {
                    let mut next = found.iter().peekable();
                    nodes.row_parts(node, |j, from, values| {
                        if let Some(&(_, k)) = next.next_if(|&&(at, _)| at == j) {
                            put(k, from, values);
                        }
                    });
                }
            }
            row += nodes.npiv(node);
        }
    }
}
