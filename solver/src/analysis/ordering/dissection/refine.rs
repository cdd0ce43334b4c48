//! A vertex separator made smaller by moving vertices out of it.
//!
//! Passes as those of Fiduccia and Mattheyses (1982), for vertex separators (Ashcraft and Liu 1997; Hendrickson and Rothberg 1998):
//! a vertex of the separator moves to one side, its neighbours on the other side come in. A pass goes to one side only: it pushes
//! the separator through the graph, far beyond moves that make it worse; those after the best are taken back. How far decides much:
//! on the 7-point grid of 44^3 the flops of a whole ordering went from those of METIS to two thirds of them.

use super::gain::Heap;
use super::graph::Weighted;

/// The value of [`Split::side`] for the separator.
pub(crate) const SEPARATOR: u8 = 2;

/// What makes one split better than another, and how heavy a side may be. Which of them leads to less work differs from graph to graph, by
/// a fifth or more either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A light separator; sides of up to two thirds of the whole.
    Light,
    /// The same with sides of up to 0.6, on a graph with hubs: these come with many parts, and so what is left of an uneven cut keeps a large border.
    Fair,
    /// A separator that is light for how evenly it cuts, s / (a b)^2; sides of up to 0.6. Where all separators are heavy, the lightest cut off little, and what is left is as
    /// hard to cut as the whole was.
    Even,
}

impl Aim {
    /// Part of the whole that a side may have.
    pub fn most(self) -> f64 {
        match self {
            Aim::Light => 2.0 / 3.0,
            Aim::Fair | Aim::Even => 0.6,
        }
    }

    /// A pass ends after so many moves without success, times the vertices of the separator. Where a graph lies in space, long ones carry the separator to another place;
    /// elsewhere they find nothing.
    fn patience(self) -> usize {
        match self {
            Aim::Light | Aim::Fair => 10,
            Aim::Even => 3,
        }
    }
}

/// Vertices in two sides, with no edge between them, and a separator.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// 0, 1, or [`SEPARATOR`].
    pub side: Vec<u8>,
    /// Weights of the three.
    pub weight: [u64; 3],
    pub aim: Aim,
}

impl Split {
    pub fn new(g: &Weighted, side: Vec<u8>, aim: Aim) -> Self {
        let mut weight = [0; 3];
        for (&s, &w) in side.iter().zip(&g.weight) {
            weight[usize::from(s)] += u64::from(w);
        }
        Split { side, weight, aim }
    }

    pub fn in_separator(&self, v: u32) -> bool {
        self.side[v as usize] == SEPARATOR
    }

    /// Puts v on a side, or into the separator.
    pub fn put(&mut self, g: &Weighted, v: u32, side: u8) {
        let before = std::mem::replace(&mut self.side[v as usize], side);
        let weight = u64::from(g.weight[v as usize]);
        self.weight[usize::from(before)] -= weight;
        self.weight[usize::from(side)] += weight;
    }

    /// Less is better; between equals the difference of the sides decides.
    pub fn cost(&self) -> (f64, f64) {
        let [a, b, separator] = self.weight.map(|w| w as f64);
        let first = match self.aim {
            Aim::Light | Aim::Fair => separator,
            Aim::Even if a * b == 0.0 => f64::INFINITY,
            Aim::Even => separator.max(0.5) / (a * b).powi(2),
        };
        (first, (a - b).abs())
    }

    /// Whether no side is heavier than it may be.
    pub fn is_within(&self) -> bool {
        let [a, b, _] = self.weight;
        let whole: u64 = self.weight.iter().sum();
        a.max(b) as f64 <= self.most() * whole as f64
    }

    /// Part of the whole that a side may have.
    pub fn most(&self) -> f64 {
        self.aim.most()
    }

    /// For `min_by`.
    pub fn compare(&self, other: &Split) -> std::cmp::Ordering {
        let (a, b) = (self.cost(), other.cost());
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    }
}

/// Buffers of [`refine`](Self::refine), for one graph after the other: threads that take such small ones anew again and again wait for one another's heap.
#[derive(Default)]
pub(crate) struct Refiner {
    separator: Vec<u32>,
    /// The separator by gain: the weight that a vertex takes off it.
    queue: Heap,
    /// Weight of the neighbours on the other side, for vertices of the separator.
    behind: Vec<i64>,
    moves: Vec<u32>,
    /// What each move pulled in: up to the end at its number.
    pulled: Vec<u32>,
    pulled_end: Vec<usize>,
    /// Vertices of the separator whose gain a move has changed, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// Neighbours in the separator of a vertex that comes in.
    between: Vec<u32>,
}

impl Refiner {
    fn fit(&mut self, n: usize) {
        self.queue.fit(n);
        if self.behind.len() < n {
            self.behind.resize(n, 0);
            self.is_touched.resize(n, false);
        }
    }

    /// Makes the separator smaller, with sides no heavier than `most`: passes towards one side and the other in turns, until two in
    /// a row find nothing, or `passes` to either side are done.
    pub fn refine(&mut self, g: &Weighted, split: &mut Split, most: u64, passes: usize) {
        self.fit(g.len());
        let mut separator = std::mem::take(&mut self.separator);
        separator.clear();
        separator.extend((0..g.len() as u32).filter(|&v| split.in_separator(v)));
        // The lighter side first.
        let first = u8::from(split.weight[1] < split.weight[0]);
        let mut idle = 0;
        for pass in 0..2 * passes as u8 {
            let better = self.pass(g, split, &mut separator, most, (first + pass) % 2);
            idle = if better { 0 } else { idle + 1 };
            if idle == 2 {
                break;
            }
        }
        self.separator = separator;
    }

    /// One pass towards the side `to`; whether it found a better one. `separator` lists the separator.
    fn pass(
        &mut self,
        g: &Weighted,
        split: &mut Split,
        separator: &mut Vec<u32>,
        most: u64,
        to: u8,
    ) -> bool {
        self.moves.clear();
        self.pulled.clear();
        self.pulled_end.clear();
        for &v in separator.iter() {
            let behind = weight_on(g, split, v, 1 - to);
            self.behind[v as usize] = behind;
            self.queue.set(v, i64::from(g.weight[v as usize]) - behind);
        }
        let mut best = (split.cost(), 0);
        let patience = (split.aim.patience() * separator.len()).max(40);
        while let Some(v) = self.queue.peek() {
            self.queue.remove(v);
            if split.weight[usize::from(to)] + u64::from(g.weight[v as usize]) > most {
                continue;
            }
            self.apply(g, split, v, to);
            let cost = split.cost();
            if cost < best.0 {
                best = (cost, self.moves.len());
            } else if self.moves.len() - best.1 > patience {
                break;
            }
        }
        self.queue.clear();
        self.take_back(g, split, to, best.1);
        // All that was in the separator at some time of this pass, each once: it went in by way of one list only.
        separator.extend_from_slice(&self.pulled);
        separator.retain(|&v| split.in_separator(v));
        best.1 > 0
    }

    /// Moves v out of the separator to the side `to`; its neighbours on the other side come in. Gains are told the queue when all are
    /// in: a vertex between many of them changes once.
    fn apply(&mut self, g: &Weighted, split: &mut Split, v: u32, to: u8) {
        split.put(g, v, to);
        self.moves.push(v);
        let other = 1 - to;
        let begin = self.pulled.len();
        self.touched.clear();
        for &u in g.of(v) {
            if split.side[u as usize] != other {
                continue;
            }
            split.put(g, u, SEPARATOR);
            self.pulled.push(u);
            let weight = i64::from(g.weight[u as usize]);
            let mut behind = 0;
            // Sides come without order: what branches on them costs more than the sum and the list.
            let around = g.of(u);
            if self.between.len() < around.len() {
                self.between.resize(around.len(), 0);
            }
            let mut count = 0;
            for &x in around {
                let side = split.side[x as usize];
                let there = i64::from(side == other);
                behind += there * i64::from(g.weight[x as usize]);
                self.between[count] = x;
                count += usize::from(side == SEPARATOR);
            }
            for &x in &self.between[..count] {
                self.behind[x as usize] -= weight;
                if !std::mem::replace(&mut self.is_touched[x as usize], true) {
                    self.touched.push(x);
                }
            }
            self.behind[u as usize] = behind;
        }
        for &u in &self.pulled[begin..] {
            let gain = i64::from(g.weight[u as usize]) - self.behind[u as usize];
            self.queue.set(u, gain);
        }
        for &x in &self.touched {
            self.is_touched[x as usize] = false;
            let gain = i64::from(g.weight[x as usize]) - self.behind[x as usize];
            self.queue.change(x, gain);
        }
        self.pulled_end.push(self.pulled.len());
    }

    /// Takes back the moves from number `from` on.
    fn take_back(&mut self, g: &Weighted, split: &mut Split, to: u8, from: usize) {
        for k in (from..self.moves.len()).rev() {
            split.put(g, self.moves[k], SEPARATOR);
            let begin = if k == 0 { 0 } else { self.pulled_end[k - 1] };
            for &u in &self.pulled[begin..self.pulled_end[k]] {
                split.put(g, u, 1 - to);
            }
        }
        let kept = if from == 0 {
            0
        } else {
            self.pulled_end[from - 1]
        };
        self.pulled.truncate(kept);
    }
}

/// Weight of the neighbours of v on a side; without branches, since sides come without order.
fn weight_on(g: &Weighted, split: &Split, v: u32, side: u8) -> i64 {
    let weights = g
        .of(v)
        .iter()
        .map(|&u| i64::from(split.side[u as usize] == side) * i64::from(g.weight[u as usize]));
    weights.sum()
}
