//! Graphs with weights on vertices and edges, and parts of them.

/// A graph in compressed adjacency lists, symmetric and without loops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weighted {
    /// Start of every list in `neighbours`, and the end of the last.
    pub start: Vec<usize>,
    /// Adjacent vertices.
    pub neighbours: Vec<u32>,
    /// Weight of every vertex: columns that it stands for.
    pub weight: Vec<u32>,
    /// Weight of every edge, beside `neighbours`: pairs of columns that it stands for.
    pub edge: Vec<u32>,
}

impl Weighted {
    /// One without vertices, with room for some.
    pub fn with_capacity(vertices: usize, entries: usize) -> Self {
        let mut start = Vec::with_capacity(vertices + 1);
        start.push(0);
        Weighted {
            start,
            neighbours: Vec::with_capacity(entries),
            weight: Vec::with_capacity(vertices),
            edge: Vec::with_capacity(entries),
        }
    }

    pub fn len(&self) -> usize {
        self.weight.len()
    }

    pub fn of(&self, v: u32) -> &[u32] {
        &self.neighbours[self.start[v as usize]..self.start[v as usize + 1]]
    }

    /// Neighbours with the weights of the edges to them.
    pub fn edges(&self, v: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range = self.start[v as usize]..self.start[v as usize + 1];
        let neighbours = self.neighbours[range.clone()].iter().copied();
        neighbours.zip(self.edge[range].iter().copied())
    }

    pub fn total(&self) -> u64 {
        self.weight.iter().map(|&w| u64::from(w)).sum()
    }

    /// The subgraphs of the vertices with `side[v]` 0 and 1, with the numbers that their vertices have here.
    pub fn halves(&self, side: &[u8]) -> [(Weighted, Vec<u32>); 2] {
        let mut local = vec![0u32; self.len()];
        let count = |which: u8| side.iter().filter(|&&s| s == which).count();
        let mut ids = [0, 1].map(|which| Vec::with_capacity(count(which)));
        for (v, &s) in side.iter().enumerate() {
            if let Some(ids) = ids.get_mut(usize::from(s)) {
                local[v] = ids.len() as u32;
                ids.push(v as u32);
            }
        }
        let [a, b] = ids;
        let (first, second) = rayon::join(
            || self.part(&a, 0, side, &local),
            || self.part(&b, 1, side, &local),
        );
        [(first, a), (second, b)]
    }

    fn part(&self, ids: &[u32], which: u8, side: &[u8], local: &[u32]) -> Weighted {
        let most: usize = ids.iter().map(|&v| self.of(v).len()).sum();
        let mut out = Weighted::with_capacity(ids.len(), most);
        out.weight
            .extend(ids.iter().map(|&v| self.weight[v as usize]));
        // The list at hand: what does not belong there is written over by the next entry, without a branch that none foretells.
        let (mut list, mut edge) = (Vec::new(), Vec::new());
        for &v in ids {
            let length = self.of(v).len();
            if list.len() < length {
                list.resize(length, 0);
                edge.resize(length, 0);
            }
            let mut count = 0;
            for (u, w) in self.edges(v) {
                list[count] = local[u as usize];
                edge[count] = w;
                count += usize::from(side[u as usize] == which);
            }
            out.neighbours.extend_from_slice(&list[..count]);
            out.edge.extend_from_slice(&edge[..count]);
            out.start.push(out.neighbours.len());
        }
        out
    }
}

/// Reproducible numbers without order (Marsaglia's xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * n as u64) >> 32) as usize
    }

    pub fn shuffle(&mut self, list: &mut [u32]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}
