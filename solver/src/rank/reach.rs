//! Which entries the null space of R has, and which of its vectors have none in common.
//!
//! Takes R as a list of nodes and the dead pivots; gives *components*: sets of dead columns with the rows and nodes that they reach.
//! The vector of a dead column has entries at live pivots of nodes that have this column, of those that have one of these pivots
//! as a column, and so on down the tree. Vectors of two components share no entry and are orthogonal as they are.

use super::nodes::Nodes;
use super::run::Deficiency;
use crate::numeric::FactorScalar;

/// No row, no component.
pub(super) const NONE: u32 = u32::MAX;

/// Dead columns whose vectors hang together.
#[derive(Debug, Default)]
pub(super) struct Component {
    /// Of which dead pivots, by their number among all, increasing.
    pub dead: Vec<u32>,
    /// Places of its rows in the elimination order, increasing: live pivots, and the dead ones themselves.
    pub rows: Vec<u32>,
    /// Nodes with live pivots among them, increasing.
    pub nodes: Vec<u32>,
}

/// All components.
#[derive(Debug)]
pub(super) struct Reach {
    /// By their first dead pivots, increasing.
    pub components: Vec<Component>,
    /// By place: which row of its component it is, or [`NONE`].
    pub row: Vec<u32>,
}

/// Sets of dead columns that grow together.
struct Sets(Vec<u32>);

impl Sets {
    fn find(&mut self, mut k: u32) -> u32 {
        while self.0[k as usize] != k {
            let above = self.0[self.0[k as usize] as usize];
            self.0[k as usize] = above;
            k = above;
        }
        k
    }

    /// Of two sets, or of one and none.
    fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == NONE || a == b {
            return b;
        }
        let (a, b) = (self.find(a), self.find(b));
        let (low, high) = (a.min(b), a.max(b));
        self.0[high as usize] = low;
        low
    }
}

impl Reach {
    /// One sweep down the tree. O(sum of the nodes' columns).
    pub fn new<T: FactorScalar>(nodes: &Nodes<'_, T>, deficiency: &Deficiency<T>) -> Self {
        let (n, dead) = (deficiency.order.len(), &deficiency.dead);
        let mut sets = Sets((0..dead.len() as u32).collect());
        let mut set_of = vec![NONE; n];
        let mut set_of_node = vec![NONE; nodes.len()];
        for (k, &place) in dead.iter().enumerate() {
            set_of[place as usize] = k as u32;
        }
        let end = dead.last().map_or(0, |&place| nodes.owner(place) + 1);
        for node in (0..end).rev() {
            let (first, npiv) = (nodes.first(node) as usize, nodes.npiv(node));
            // Pivots before `top` have entries.
            let (mut set, mut top) = (NONE, 0);
            for (j, &own) in set_of[first..first + npiv].iter().enumerate() {
                if own != NONE {
                    (set, top) = (sets.union(set, own), j);
                }
            }
            let mut j = 0;
            let mut other = |place: u32| {
                let found = set_of[place as usize];
                if j >= npiv && found != NONE {
                    (set, top) = (sets.union(set, found), npiv);
                }
                j += 1;
            };
            match &deficiency.nodes[node] {
                Some(done) => done.cols.iter().for_each(|&c| other(nodes.place(c))),
                None => nodes.for_each_place(node, other),
            }
            for own in &mut set_of[first..first + top] {
                if *own == NONE {
                    *own = set;
                }
            }
            if top > 0 {
                set_of_node[node] = set;
            }
        }
        let mut number = vec![NONE; dead.len()];
        let mut components: Vec<Component> = Vec::new();
        for k in 0..dead.len() as u32 {
            let root = sets.find(k) as usize;
            if number[root] == NONE {
                number[root] = components.len() as u32;
                components.push(Component::default());
            }
            components[number[root] as usize].dead.push(k);
        }
        let mut row = vec![NONE; n];
        for (place, &set) in set_of.iter().enumerate().filter(|s| *s.1 != NONE) {
            let component = &mut components[number[sets.find(set) as usize] as usize];
            row[place] = component.rows.len() as u32;
            component.rows.push(place as u32);
        }
        for (node, &set) in set_of_node.iter().enumerate().filter(|s| *s.1 != NONE) {
            let component = number[sets.find(set) as usize];
            components[component as usize].nodes.push(node as u32);
        }
        Reach { components, row }
    }
}
