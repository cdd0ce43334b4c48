//! The first cut of a graph, and how what follows suits it.
//!
//! What a good separator is differs from graph to graph (decision 0009). Where a light one is a small part of the graph, the graph lies in space, and light separators are the best. Where
//! it is a large one nothing cuts the graph well, and cuts are to be even; a bad first one is then never made good, and so it is the best of several. Light separators
//! of a graph with hubs are to leave less uneven sides than others.

use super::graph::Weighted;
use super::refine::{Aim, SEPARATOR, Split};
use super::separator::{Method, Place, Room, once};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// The first separator's part of the whole from which on cuts are to be even.
const HEAVY: f64 = 0.08;
/// Neighbours of a vertex on average from which on they are, too: stencils of many points. Unless the separator is heavy all ways lead to the same cut there.
const MANY: usize = 64;
/// Ways near the top of the tree where they lead to less work: where cuts are to be even, and on a graph with hubs. And more of them for a heavy first cut of one without hubs.
const WAYS: u64 = 2;
const MORE: Range<u64> = 2..4;

/// Cuts g, and says how to go on; the aim may be given.
pub(crate) fn cut(
    g: &Weighted,
    place: Place,
    aim: Option<Aim>,
    given_up: &AtomicBool,
) -> (Method, Split) {
    let way = |way: u64, aim| {
        let random = &mut place.random(way);
        once(g, random, aim, &mut Room::default(), given_up)
    };
    let has_many = g.neighbours.len() >= MANY * g.len();
    let has_hubs = has_hubs(g);
    let split = if has_many {
        way(0, aim.unwrap_or(Aim::Even))
    } else {
        let by_hubs = if has_hubs { Aim::Fair } else { Aim::Light };
        let own = aim.filter(|&aim| aim != Aim::Even).unwrap_or(by_hubs);
        let (light, even) = rayon::join(|| way(0, own), || way(1, Aim::Even));
        let suited = if is_heavy(&light) { Aim::Even } else { own };
        match aim.unwrap_or(suited) {
            Aim::Even => better(even, light),
            Aim::Light | Aim::Fair => better(light, even),
        }
    };
    let aim = split.aim;
    if aim == Aim::Even && is_heavy(&split) && !has_hubs {
        let more: Vec<_> = MORE.into_par_iter().map(|k| way(k, aim)).collect();
        let best = more.into_iter().fold(split, better);
        return (Method { aim, ways: WAYS }, best);
    }
    let ways = match aim {
        _ if has_many => 1,
        Aim::Light => 1,
        Aim::Fair | Aim::Even => WAYS,
    };
    (Method { aim, ways }, split)
}

/// Whether the degrees' standard deviation is more than their mean.
fn has_hubs(g: &Weighted) -> bool {
    let degrees = (0..g.len() as u32).map(|v| g.of(v).len() as f64);
    let squares: f64 = degrees.map(|d| d * d).sum();
    squares * g.len() as f64 > 2.0 * (g.neighbours.len() as f64).powi(2)
}

fn is_heavy(split: &Split) -> bool {
    let whole: u64 = split.weight.iter().sum();
    split.weight[usize::from(SEPARATOR)] as f64 > HEAVY * whole as f64
}

/// The better one by the aim of the first.
fn better(own: Split, other: Split) -> Split {
    let aim = own.aim;
    let other = Split { aim, ..other };
    match other.is_within() && other.compare(&own).is_lt() {
        true => other,
        false => own,
    }
}
