//! Paje, by a strict reader: every line must be what the file's own header says, every name must have been defined, times
//! must not go back, states must nest and links must meet.

mod common;

use common::samples::helped;
use common::{Shape, random, stream};
use std::collections::HashMap;
use treeqr_profiling::export::{Dependencies, ExportOptions};
use treeqr_profiling::trace::Trace;
use treeqr_profiling::trace::schema::{Task, ThreadState};

/// What a reader of a Paje trace knows at its end.
#[derive(Default)]
struct Paje {
    /// Alias to parent type; the root is `0`.
    container_types: HashMap<String, String>,
    /// Alias of a state, variable or link type to its kind and container type.
    types: HashMap<String, (&'static str, String)>,
    /// (type, alias) to name.
    values: HashMap<(String, String), String>,
    /// Open ones: alias to type.
    containers: HashMap<String, String>,
    /// Names of all that were created.
    names: HashMap<String, String>,
    /// Closed states: container, type, value, start, end in ns.
    states: Vec<(String, String, String, u64, u64)>,
    open: HashMap<(String, String), Vec<(String, u64)>>,
    /// Container, type, time, value.
    variables: Vec<(String, String, u64, f64)>,
    /// Start container, time, end container, time.
    links: Vec<(String, u64, String, u64)>,
    flying: HashMap<String, (String, u64)>,
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let word = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (word, after) = quoted.split_once('"').expect("a closing quote");
                rest = after;
                word
            }
            None => {
                let (word, after) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
                rest = after;
                word
            }
        };
        words.push(word.to_owned());
        if !rest.is_empty() {
            rest = rest.strip_prefix(' ').expect("one space between fields");
        }
    }
    words
}

/// Milliseconds to nanoseconds, exactly.
fn time(text: &str) -> u64 {
    let (whole, part) = text.split_once('.').expect("decimals");
    assert_eq!(part.len(), 6, "{text}");
    whole.parse::<u64>().unwrap() * 1_000_000 + part.parse::<u64>().unwrap()
}

fn read(text: &str) -> Paje {
    let mut lines = text.lines().peekable();
    let mut events: HashMap<String, (String, Vec<(String, String)>)> = HashMap::new();
    while let Some(line) = lines.next_if(|line| line.starts_with('%')) {
        let head: Vec<&str> = line.split(' ').collect();
        let ["%EventDef", name, id] = head[..] else {
            panic!("{line}")
        };
        let mut fields = Vec::new();
        loop {
            let line = lines.next().expect("the end of the definition");
            if line == "%EndEventDef" {
                break;
            }
            let ["%", field, kind] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            fields.push((field.to_owned(), kind.to_owned()));
        }
        assert!(
            events
                .insert(id.to_owned(), (name.to_owned(), fields))
                .is_none()
        );
    }
    let mut paje = Paje::default();
    let mut now = 0;
    for line in lines {
        let words = words(line);
        let (name, fields) = &events[&words[0]];
        assert_eq!(words.len(), fields.len() + 1, "{line}");
        let mut row: HashMap<&str, &str> = HashMap::new();
        for ((field, kind), word) in fields.iter().zip(&words[1..]) {
            match kind.as_str() {
                "date" => {
                    assert!(time(word) >= now, "{line}: back from {now}");
                    now = time(word);
                }
                "double" => assert!(word.parse::<f64>().unwrap().is_finite(), "{line}"),
                "color" => {
                    let parts: Vec<f64> =
                        word.split(' ').map(|part| part.parse().unwrap()).collect();
                    assert!(
                        parts.len() == 3 && parts.iter().all(|p| (0.0..=1.0).contains(p)),
                        "{line}"
                    );
                }
                kind => assert_eq!(kind, "string"),
            }
            row.insert(field, word);
        }
        paje.event(name, &row, now);
    }
    assert!(
        paje.containers.is_empty(),
        "not destroyed: {:?}",
        paje.containers
    );
    assert!(paje.open.values().all(Vec::is_empty), "states are open");
    assert!(paje.flying.is_empty(), "links are open");
    paje
}

impl Paje {
    /// The container, which must be open and of the type that `kind` belongs to.
    fn container(&self, row: &HashMap<&str, &str>, field: &str, kind: &str) -> String {
        let container = row[field];
        let (found, of) = &self.types[row["Type"]];
        assert_eq!(*found, kind);
        assert_eq!(self.containers[container], *of, "{row:?}");
        container.to_owned()
    }

    fn value(&self, row: &HashMap<&str, &str>) -> String {
        self.values[&(row["Type"].to_owned(), row["Value"].to_owned())].clone()
    }

    fn event(&mut self, name: &str, row: &HashMap<&str, &str>, now: u64) {
        let text = |field: &str| row[field].to_owned();
        let known =
            |this: &Self, kind: &str| kind == "0" || this.container_types.contains_key(kind);
        match name {
            "PajeDefineContainerType" => {
                assert!(known(self, row["Type"]));
                assert!(
                    self.container_types
                        .insert(text("Alias"), text("Type"))
                        .is_none()
                );
            }
            "PajeDefineStateType" | "PajeDefineVariableType" => {
                assert!(known(self, row["Type"]));
                let kind = if name.contains("State") {
                    "state"
                } else {
                    "variable"
                };
                assert!(
                    self.types
                        .insert(text("Alias"), (kind, text("Type")))
                        .is_none()
                );
            }
            "PajeDefineLinkType" => {
                for field in ["Type", "StartContainerType", "EndContainerType"] {
                    assert!(known(self, row[field]));
                }
                assert!(
                    self.types
                        .insert(text("Alias"), ("link", text("Type")))
                        .is_none()
                );
            }
            "PajeDefineEntityValue" => {
                assert!(self.types.contains_key(row["Type"]));
                let key = (text("Type"), text("Alias"));
                assert!(self.values.insert(key, text("Name")).is_none());
            }
            "PajeCreateContainer" => {
                let parent = &self.container_types[row["Type"]];
                match parent.as_str() {
                    "0" => assert_eq!(row["Container"], "0"),
                    parent => assert_eq!(self.containers[row["Container"]], parent),
                }
                assert!(
                    self.containers
                        .insert(text("Alias"), text("Type"))
                        .is_none()
                );
                self.names.insert(text("Alias"), text("Name"));
            }
            "PajeDestroyContainer" => {
                assert_eq!(self.containers.remove(row["Name"]).unwrap(), row["Type"]);
            }
            "PajePushState" => {
                let key = (self.container(row, "Container", "state"), text("Type"));
                let value = self.value(row);
                self.open.entry(key).or_default().push((value, now));
            }
            "PajePopState" => {
                let key = (self.container(row, "Container", "state"), text("Type"));
                let (value, start) = self
                    .open
                    .get_mut(&key)
                    .unwrap()
                    .pop()
                    .expect("an open state");
                self.states.push((key.0, key.1, value, start, now));
            }
            "PajeSetVariable" => {
                let container = self.container(row, "Container", "variable");
                let value = row["Value"].parse().unwrap();
                self.variables.push((container, text("Type"), now, value));
            }
            "PajeStartLink" | "PajeEndLink" => {
                self.container(row, "Container", "link");
                assert_eq!(self.value(row), "Dependency");
                if name == "PajeStartLink" {
                    assert!(self.containers.contains_key(row["StartContainer"]));
                    let from = (text("StartContainer"), now);
                    assert!(self.flying.insert(text("Key"), from).is_none());
                } else {
                    assert!(self.containers.contains_key(row["EndContainer"]));
                    let (from, left) = self.flying.remove(row["Key"]).expect("it has left");
                    self.links.push((from, left, text("EndContainer"), now));
                }
            }
            other => panic!("{other}"),
        }
    }

    /// States of a type, sorted.
    fn of(&self, kind: &str) -> Vec<(String, String, u64, u64)> {
        let states = self.states.iter().filter(|state| state.1 == kind);
        let mut states: Vec<_> = states
            .map(|s| (s.0.clone(), s.2.clone(), s.3, s.4))
            .collect();
        states.sort();
        states
    }
}

fn paje(trace: &Trace, dependencies: Dependencies) -> Paje {
    let options = ExportOptions {
        dependencies,
        ..ExportOptions::default()
    };
    read(&String::from_utf8(stream("paje", trace, &options)).unwrap())
}

#[test]
fn tasks_and_states_come_back() {
    for seed in 0..12 {
        let trace = random(Shape::small(seed));
        let tables = &trace.tables;
        let paje = paje(&trace, Dependencies::None);
        assert!(paje.links.is_empty());
        let mut tasks: Vec<_> = tables
            .tasks
            .iter()
            .map(|task| {
                let name = tables.codelets[usize::from(task.codelet)].name.clone();
                (
                    format!("w{}", task.worker),
                    name,
                    task.start_ns,
                    task.end_ns,
                )
            })
            .collect();
        tasks.sort();
        assert_eq!(paje.of("T"), tasks);
        let workers = tables
            .workers
            .iter()
            .map(|row| (format!("w{}", row.worker), row.name.clone()));
        for (alias, name) in workers {
            assert_eq!(paje.names[&alias], name);
        }
        assert_eq!(paje.names["r"], "measured random 'one', of tests prio");
        let (own, waits): (Vec<_>, Vec<_>) = tables.states.iter().partition(|s| s.worker.is_some());
        let mut own: Vec<_> = own
            .iter()
            .map(|s| {
                (
                    format!("w{}", s.worker.unwrap()),
                    s.state.to_string(),
                    s.start_ns,
                    s.end_ns,
                )
            })
            .collect();
        own.sort();
        assert_eq!(paje.of("I"), own);
        assert_eq!(paje.of("L").len(), waits.len());
        assert_eq!(paje.of("L")[0].1, ThreadState::WindowFull.to_string());
    }
}

#[test]
fn helpers_are_in_states_of_their_own() {
    let trace = helped(3);
    let tables = &trace.tables;
    let name = |task: &Task| tables.codelets[usize::from(task.codelet)].name.clone();
    let worker = |worker: u16| format!("w{worker}");
    let mut rows: Vec<_> = (tables.tasks.iter())
        .map(|t| (worker(t.worker), name(t), t.start_ns, t.end_ns))
        .collect();
    rows.extend(tables.shares.iter().map(|s| {
        let name = format!("helps {}", name(&tables.tasks[s.task as usize]));
        (worker(s.worker), name, s.start_ns, s.end_ns)
    }));
    rows.sort();
    assert_eq!(paje(&trace, Dependencies::None).of("T"), rows);
}

#[test]
fn variables_say_what_the_tables_say() {
    for seed in 0..6 {
        let trace = random(Shape::small(seed));
        let tables = &trace.tables;
        let paje = paje(&trace, Dependencies::None);
        let of = |kind: &'static str| paje.variables.iter().filter(move |v| v.1 == kind);
        type Time = fn(&Task) -> u64;
        let counted: [(&str, Time, Time); 2] = [
            ("ready", |task| task.ready_ns, |task| task.pop_ns),
            ("submitted", |task| task.submit_ns, |task| task.end_ns),
        ];
        for (kind, from, to) in counted {
            for (_, _, now, value) in of(kind) {
                let there = tables
                    .tasks
                    .iter()
                    .filter(|t| from(t) <= *now && *now < to(t));
                assert_eq!(*value, there.count() as f64, "{kind} at {now}");
            }
            assert_eq!(of(kind).next_back().unwrap().3, 0.0);
        }
        // The last value at a time counts, in MiB.
        for (_, _, now, value) in of("held") {
            let at = tables
                .memory
                .iter()
                .rfind(|row| row.time_ns == *now)
                .unwrap();
            assert_eq!(*value * 1048576.0, at.after_bytes as f64);
        }
        // The integral of the rates is the work.
        for worker in &tables.workers {
            let steps: Vec<_> = of("rate")
                .filter(|v| v.0 == format!("w{}", worker.worker))
                .collect();
            let integral: f64 = steps
                .windows(2)
                .map(|w| w[0].3 * (w[1].2 - w[0].2) as f64)
                .sum();
            // A task that took no time has no rate.
            let tasks = tables
                .tasks
                .iter()
                .filter(|t| t.worker == worker.worker && t.end_ns > t.start_ns);
            let flops: f64 = tasks.map(|task| task.flops as f64).sum();
            assert!(
                (integral - flops).abs() <= 1e-9 * flops,
                "{integral} {flops}"
            );
        }
    }
}

#[test]
fn links_are_dependencies() {
    for seed in 0..8 {
        let trace = random(Shape::small(seed));
        let tables = &trace.tables;
        let mut links = paje(&trace, Dependencies::All).links;
        let mut edges: Vec<_> = tables
            .dependencies
            .iter()
            .map(|d| {
                let (from, to) = (
                    &tables.tasks[d.predecessor as usize],
                    &tables.tasks[d.task as usize],
                );
                (
                    format!("w{}", from.worker),
                    from.end_ns,
                    format!("w{}", to.worker),
                    to.start_ns,
                )
            })
            .collect();
        links.sort();
        edges.sort();
        assert_eq!(links, edges);

        let path = paje(&trace, Dependencies::Critical).links;
        let mut longest: Vec<u64> = Vec::new();
        for task in &tables.tasks {
            let before = tables.dependencies.iter().filter(|d| d.task == task.task);
            let before = before
                .map(|d| longest[d.predecessor as usize])
                .max()
                .unwrap_or(0);
            longest.push(before + task.end_ns - task.start_ns);
        }
        assert!(!path.is_empty() && path.len() < links.len());
        assert!(path.iter().all(|link| edges.contains(link)));
        // From each arrival to the next departure runs a task; so do one before the first and one after the last.
        let inner: u64 = path.windows(2).map(|pair| pair[1].1 - pair[0].3).sum();
        let (first, last) = (path.first().unwrap(), path.last().unwrap());
        let before = tables
            .tasks
            .iter()
            .filter(|t| t.end_ns == first.1 && format!("w{}", t.worker) == first.0);
        let after = tables
            .tasks
            .iter()
            .filter(|t| t.start_ns == last.3 && format!("w{}", t.worker) == last.2);
        let ends = before.map(|t| t.end_ns - t.start_ns).max().unwrap()
            + after.map(|t| t.end_ns - t.start_ns).max().unwrap();
        assert_eq!(inner + ends, *longest.iter().max().unwrap(), "seed {seed}");
    }
}
