//! How many tree nodes are worked on at a time: those in tiles, which many workers share, and whole subtrees, which are one task.

use super::chart::{Chart, ChartForm, Series, Unit, all_workers};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::account::nodes_over_time;
use crate::palette::Colour;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "active",
    about: "tree nodes that are worked on: in tiles (parallel), whole subtrees (sequential)",
    drawing: Drawing::Chart(chart),
};

const BEGUN: Colour = Colour::new(0x33_22_88);
const RUNNING: Colour = Colour::new(0x44_AA_99);
const SEQUENTIAL: Colour = Colour::new(0xCC_66_77);

fn chart(subject: &Subject<'_>) -> Chart {
    let nodes = nodes_over_time(subject.trace);
    let mut chart = Chart::new(ChartForm::Steps, "Active tree nodes", Unit::Count("nodes"));
    let curves = [
        ("in tiles, from first to last task", BEGUN, nodes.parallel),
        ("in tiles, a task runs", RUNNING, nodes.parallel_running),
        ("whole subtrees", SEQUENTIAL, nodes.sequential),
    ];
    for (name, colour, steps) in curves {
        if steps.max() > 0.0 {
            let steps = subject.shifted(steps);
            chart.series.push(Series::new(name, colour, steps));
        }
    }
    chart.rules.push(all_workers(subject));
    chart
}
