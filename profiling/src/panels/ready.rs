//! Tasks over time that could run, and tasks that were submitted and not done; marked where there were fewer tasks to run than
//! workers.

use super::axis::{percent, prefix};
use super::frame::{Form, Frame, Key};
use super::scene::{ALERT, Area, GREY, INK, Scene, Stroke};
use super::steps::{count, line, most, spans_where};
use super::subject::Subject;
use super::{PanelEntry, PanelOptions};
use crate::palette::Colour;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "ready",
    about: "ready tasks, and submitted ones not done; where there were fewer than workers",
    paint,
};

const READY: Colour = Colour::new(0x11_77_33);
const SUBMITTED: Colour = Colour::new(0x33_22_88);

fn paint(subject: &Subject<'_>, options: &PanelOptions) -> Scene {
    let times = |of: fn(&crate::trace::schema::Task) -> u64| -> Vec<f64> {
        let tasks = subject.tasks().iter();
        tasks.map(|task| subject.since(of(task))).collect()
    };
    let span = (subject.from, subject.to);
    let ready = count(times(|t| t.ready_ns), times(|t| t.pop_ns.max(t.ready_ns)));
    let open = count(times(|t| t.submit_ns), times(|t| t.end_ns.max(t.submit_ns)));
    // Ready or running: with fewer than workers, some worker can have nothing to do.
    let work = count(times(|t| t.ready_ns), times(|t| t.end_ns.max(t.ready_ns)));
    let workers = subject.workers.len() as f64;
    let few = spans_where(&work, span, |n| n < workers);
    let part = few.iter().map(|(a, b)| b - a).sum::<f64>() / (span.1 - span.0);
    let keys = [
        Key::new(Form::Line, READY, "ready, and no worker has taken it"),
        Key::new(Form::Line, SUBMITTED, "submitted, and not done"),
        Key::new(
            Form::Box,
            ALERT,
            format!(
                "fewer tasks ready or running than workers: {} of the time",
                percent(part)
            ),
        ),
        Key::new(Form::Dashes, GREY, "workers"),
    ];
    let mut frame = Frame::new(subject, options, "Tasks that wait", 320.0, &keys);
    frame.time_axis();
    let whole = frame.area;
    let half = 0.5 * (whole.h - 26.0);
    let upper = Area { h: half, ..whole };
    let lower = Area {
        y: whole.bottom() - half,
        h: half,
        ..whole
    };
    let plots = [
        (&ready, upper, READY, "ready"),
        (&open, lower, SUBMITTED, "submitted"),
    ];
    for (steps, area, colour, name) in plots {
        let highest = most(steps, span.0, span.1).max(workers);
        let (letter, scale) = prefix(highest);
        let name = match letter {
            "" => name.to_owned(),
            letter => format!("{name} ({letter})"),
        };
        let y = frame.value_axis(area, 1.06 * highest, &name, scale);
        frame.scene.group("counts");
        let points = line(steps, span, |t| frame.x(t), &y);
        let mut below = points.clone();
        below.push((area.right(), area.bottom()));
        below.push((area.x, area.bottom()));
        frame.scene.polygon(below, colour, 0.14);
        frame.scene.polyline(points, Stroke::new(colour, 1.2));
        let look = Stroke::dashed(GREY, 1.0, 3.0);
        let at = y(workers);
        frame.scene.line((area.x, at), (area.right(), at), look);
        frame.scene.line(
            (area.x, area.bottom()),
            (area.right(), area.bottom()),
            Stroke::new(INK, 0.5),
        );
    }
    frame.scene.group("few");
    // Between the two, as a strip; what is shorter than half a unit of the page is as long, and no two of them overlap.
    let y = upper.bottom() + 5.0;
    let mut free = whole.x;
    for (start, end) in few {
        let x = frame.x(start).max(free);
        let until = frame.x(end).max(x + 0.5).min(whole.right());
        if until - free >= 0.5 {
            let (w, h) = (until - x, 6.0);
            frame.scene.rect(Area { x, y, w, h }, ALERT);
            free = until;
        }
    }
    frame.marks();
    frame.scene
}
