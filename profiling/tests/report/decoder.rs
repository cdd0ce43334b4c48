//! A reader of pages after the description in `src/report/README.md` alone.

use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::HashMap;
use std::io::Read;
use treeqr_profiling::report::{Options, page};
use treeqr_profiling::trace::Trace;

/// A run as the page has it.
pub struct Run {
    pub head: Value,
    columns: HashMap<String, Vec<f64>>,
}

/// The head of a page, its runs, and last their comparison where there are two.
pub fn decoded(html: &str) -> (Value, Vec<Run>) {
    let head: Value = serde_json::from_str(block(html, "report")).expect("JSON");
    let heads = head["runs"].as_array().expect("runs").iter();
    let compared = Some(&head["comparison"]).filter(|head| !head.is_null());
    let runs = heads.chain(compared).enumerate();
    let runs = runs.map(|(k, head)| {
        let packed = base64(block(html, &format!("data-{k}")));
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..])
            .read_to_end(&mut bytes)
            .expect("gzip");
        Run::of(head, &bytes)
    });
    let runs = runs.collect();
    (head, runs)
}

/// The one run of a trace's page.
pub fn run_of(trace: &Trace) -> Run {
    let html = page(&[trace], &Options::default()).expect("a page");
    let (_, mut runs) = decoded(&html);
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// The text of a script element.
fn block<'h>(html: &'h str, id: &str) -> &'h str {
    let (_, after) = html.split_once(&format!(" id=\"{id}\">")).expect("a block");
    after.split_once("</script>").expect("its end").0
}

fn base64(text: &str) -> Vec<u8> {
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes().filter(|&letter| letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => panic!("no letter of base64: {letter}"),
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

impl Run {
    fn of(head: &Value, bytes: &[u8]) -> Self {
        let mut columns = HashMap::new();
        let mut at = 0;
        for column in head["columns"].as_array().expect("columns") {
            let word = |key: &str| column[key].as_str().expect("a word");
            let number = |key: &str| column[key].as_u64().expect("a number") as usize;
            let part = &bytes[at..at + number("bytes")];
            at += part.len();
            let values = values(part, word("coding"), word("type"));
            let name = word("name");
            assert_eq!(values.len(), number("length"), "{name}");
            let most = match word("type") {
                "u8" => f64::from(u8::MAX),
                "u16" => f64::from(u16::MAX),
                "u32" => f64::from(u32::MAX),
                _ => f64::MAX,
            };
            assert!(values.iter().all(|v| v.is_finite() && *v <= most), "{name}");
            assert!(
                columns.insert(name.to_owned(), values).is_none(),
                "{name} twice"
            );
        }
        assert_eq!(at, bytes.len(), "bytes of no column");
        let head = head.clone();
        Run { head, columns }
    }

    pub fn column(&self, name: &str) -> &[f64] {
        let column = self.columns.get(name);
        column.unwrap_or_else(|| panic!("no column {name}"))
    }

    /// The column that a field of a panel names.
    pub fn named(&self, field: &Value) -> &[f64] {
        self.column(
            field
                .as_str()
                .unwrap_or_else(|| panic!("no column's name: {field}")),
        )
    }

    pub fn panel(&self, id: &str) -> Option<&Value> {
        let panels = self.head["panels"].as_array().expect("panels");
        panels.iter().find(|panel| panel["id"] == id)
    }
}

fn values(bytes: &[u8], coding: &str, kind: &str) -> Vec<f64> {
    match (coding, kind) {
        ("plain", "u8") => bytes.iter().map(|&b| b.into()).collect(),
        ("plain", "f32") => {
            let numbers = bytes.chunks_exact(4);
            assert!(numbers.remainder().is_empty());
            numbers
                .map(|b| f32::from_le_bytes(b.try_into().unwrap()).into())
                .collect()
        }
        ("varint", _) => leb128(bytes).map(|n| n as f64).collect(),
        ("zigzag", _) => leb128(bytes).map(|n| signed(n) as f64).collect(),
        ("delta", _) => {
            let mut sum = 0;
            let add = |n| {
                sum += signed(n);
                sum as f64
            };
            leb128(bytes).map(add).collect()
        }
        other => panic!("no coding: {other:?}"),
    }
}

fn signed(n: u64) -> i64 {
    match n % 2 {
        0 => (n / 2) as i64,
        _ => -((n / 2) as i64) - 1,
    }
}

fn leb128(bytes: &[u8]) -> impl Iterator<Item = u64> {
    assert!(bytes.last().is_none_or(|b| *b < 128), "cut off");
    let numbers = bytes.split_inclusive(|b| *b < 128);
    numbers.map(|number| {
        let digits = number.iter().rev();
        digits.fold(0, |n, b| n * 128 + u64::from(b % 128))
    })
}
