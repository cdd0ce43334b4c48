//! Assembly on a device against the definition: every entry of a contribution block at its place in the parent, nothing else
//! written; from a packed block and from tiles, whole and in parts.

use super::common::{self, Rng, nan};
use super::{Lab, On, to_bytes};
use treeqr_kernels::KernelScalar;
use treeqr_kernels::device::{self, Part, PartLayout, Target, scalar_kind};

/// `count` increasing numbers below `count + gaps`.
fn map(count: usize, gaps: usize, rng: &mut Rng) -> Vec<u32> {
    let mut all: Vec<u32> = (0..(count + gaps) as u32).collect();
    while all.len() > count {
        all.remove(rng.below(all.len()));
    }
    all
}

/// Cuts `0..n` into pieces of random lengths.
fn cuts(n: usize, rng: &mut Rng) -> Vec<usize> {
    let mut at = vec![0];
    while at[at.len() - 1] < n {
        at.push((at[at.len() - 1] + 1 + rng.below(n)).min(n));
    }
    at
}

fn to_list(list: &[u32]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

/// An m x n contribution block into a front by random maps, as a packed block if `packed`, else as a tile with other numbers around
/// it; its parts are those that random cuts of the front make.
pub fn check_extend<T: KernelScalar>((m, n): (usize, usize), packed: bool, seed: u64, on: &On) {
    let rng = &mut Rng(seed);
    let m = if packed { m.min(n) } else { m };
    let (gaps, pad) = (rng.below(6), rng.below(4));
    let (rows, cols) = (map(m, gaps, rng), map(n, gaps, rng));
    let trapezoid = packed || rng.below(2) == 0;
    let inside = |i: usize, j: usize| !trapezoid || i <= j;
    let cb = common::Block::<T>::random(m, n, 0, rng);
    let mut front = common::Block::<T>::filled(m + gaps, n + gaps, pad, nan());
    let mut lab = Lab::new(on);
    let scalar = scalar_kind::<T>();
    let corner = (rng.below(3), rng.below(3));
    let source = match packed {
        true => {
            let columns = (0..n).flat_map(|j| (0..m.min(j + 1)).map(move |i| (i, j)));
            let data: Vec<T> = columns.map(|(i, j)| cb.view().at(i, j)).collect();
            let address = lab.room(size_of_val(&data[..]));
            lab.stream.upload(&to_bytes(&data), address).unwrap();
            device::Block { address, ld: 0 }
        }
        false => {
            let mut tile =
                common::Block::<T>::filled(m + corner.0, n + corner.1, pad, T::from_f64(1e30, 0.0));
            for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
                let x = cb.view().at(i, j);
                tile.view_mut().set(i + corner.0, j + corner.1, x);
            }
            lab.put(&tile)
        }
    };
    let on_front = lab.put(&front);
    let lists = [to_list(&rows), to_list(&cols)].concat();
    let on_lists = lab.room(lists.len());
    lab.stream.put(&lists, on_lists).unwrap();
    let place = |ld: usize, i: usize, j: usize| ((i + j * ld) * scalar.bytes()) as u64;
    let (tops, lefts) = (cuts(m + gaps, rng), cuts(n + gaps, rng));
    for top in tops.windows(2) {
        for left in lefts.windows(2) {
            let span = |map: &[u32], at: &[usize]| {
                let before = |x: usize| map.iter().filter(|&&to| (to as usize) < x).count();
                before(at[0])..before(at[1])
            };
            let (here, across) = (span(&rows, top), span(&cols, left));
            let (row, col) = (here.start, across.start);
            let from = match packed {
                true => PartLayout::Packed {
                    address: source.address,
                    rows: m,
                },
                false => PartLayout::Tile(device::Block {
                    address: source.address + place(source.ld, row + corner.0, col + corner.1),
                    ld: source.ld,
                }),
            };
            let part = Part {
                from,
                row,
                col,
                size: (here.len(), across.len()),
                trapezoid,
            };
            let tile = device::Block {
                address: on_front.address + place(on_front.ld, top[0], left[0]),
                ld: on_front.ld,
            };
            let target = Target {
                tile,
                corner: (top[0] as u32, left[0] as u32),
            };
            let lists = (on_lists + 4 * row as u64, on_lists + 4 * (m + col) as u64);
            device::extend(&mut *lab.stream, scalar, &part, lists, &target).unwrap();
        }
    }
    let found = lab.get(on_front, &front);
    lab.check_gap(on_front.address);
    lab.check_gap(on_lists);
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        if inside(i, j) {
            let x = cb.view().at(i, j);
            front.view_mut().set(rows[i] as usize, cols[j] as usize, x);
        }
    }
    assert_eq!(found.bits(), front.bits(), "{m} x {n} packed {packed}");
}

/// Some entries of a vector.
pub fn check_place<T: KernelScalar>(n: usize, seed: u64, on: &On) {
    let rng = &mut Rng(seed);
    let mut places = map(n, 1 + rng.below(n), rng);
    // In any order.
    for k in (1..n).rev() {
        places.swap(k, rng.below(k + 1));
    }
    let values = common::Block::<T>::random(n, 1, 0, rng);
    let mut to = common::Block::<T>::filled(2 * n + 1, 1, 0, nan());
    let mut lab = Lab::new(on);
    let (on_values, on_to) = (lab.put(&values), lab.put(&to));
    let list = to_list(&places);
    let on_list = lab.room(list.len());
    lab.stream.put(&list, on_list).unwrap();
    let stream = &mut *lab.stream;
    let scalar = scalar_kind::<T>();
    device::place(stream, scalar, n, on_values.address, on_list, on_to.address).unwrap();
    let found = lab.get(on_to, &to);
    for (k, &at) in places.iter().enumerate() {
        to.view_mut().set(at as usize, 0, values.view().at(k, 0));
    }
    assert_eq!(found.bits(), to.bits());
    lab.check_gap(on_list);
}
