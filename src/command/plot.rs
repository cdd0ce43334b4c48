//! `treeqr plot`: panels of a trace as SVG or PNG files.

use super::failure::Failure;
use super::page::{self, Page};
use super::trace::args::time;
use super::trace::open_whole;
use super::units::{plural, si};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use treeqr::profiling::models;
use treeqr::profiling::panels::scene::Scene;
use treeqr::profiling::panels::{
    self, PANELS, PanelEntry, PanelError, PanelOptions, SIDES, check_target,
};
use treeqr::profiling::trace::Trace;

/// Draw panels of a trace as SVG or PNG
#[derive(Args)]
#[command(after_help = format!("Examples:
  treeqr plot A.trace --panel gantt
  treeqr plot A.trace --panel tree --size 1600x1200 -o tree.png
  treeqr plot A.trace --panel gantt,tree,memory -o together.svg
  treeqr plot A.trace --panel tree --step 5ms --classes
  treeqr plot A.trace --panel all --from 10ms --to 25ms -o pictures

Panels:
{}
Times are since the beginning of the run, as on the axis, in ns unless they have a unit: s, ms, us,
ns. docs/panels.md tells what one sees.", panel_list()))]
pub struct PlotArgs {
    /// The trace
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Which panel; several, by commas, are one picture, below each other; `all` gives a picture each
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        required = true,
        value_parser = panel_parser(),
        hide_possible_values = true
    )]
    pub panel: Vec<String>,
    /// svg, or png with --scale pixels a unit [default: by the ending of the output's name, else svg]
    #[arg(long, value_name = "svg|png", hide_possible_values = true)]
    pub format: Option<Format>,
    /// Width and height of the page, in units of SVG [default: 1200 wide, as high as the panel needs]
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(u32, u32)>,
    /// Pixels of a unit in a PNG
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub scale: u8,
    /// From this time on
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub from: Option<u64>,
    /// Up to this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub to: Option<u64>,
    /// Length of the steps of time in which loads and speeds are means [default: as short as can be seen]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub step: Option<u64>,
    /// The picture; for `all` the folder of the pictures [default: NAME.svg or NAME.png, here]
    #[arg(long, short, value_name = "FILE|DIR")]
    pub output: Option<PathBuf>,
    /// Show the tasks that took longer than the 95 % interval of their kind strong, and the others pale
    /// (gantt, tree), even where there are no more of them than chance explains
    #[arg(long)]
    pub anomalies: bool,
    /// Show no task stronger than others
    #[arg(long, conflicts_with = "anomalies")]
    pub plain: bool,
    /// Loads in the tree as 0, 50 or 100 % of all workers, instead of as they are
    #[arg(long)]
    pub classes: bool,
    /// Replace pictures that are there
    #[arg(long)]
    pub force: bool,
}

/// What a picture becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Svg,
    Png,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Format::Svg => "svg",
            Format::Png => "png",
        }
    }
}

fn panel_list() -> String {
    let line = |panel: &PanelEntry| format!("  {:<10} {}\n", panel.name, panel.about);
    PANELS.iter().map(line).collect()
}

fn panel_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(PANELS.iter().map(|panel| panel.name).chain(["all"]))
}

/// `1600x1200`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once(['x', '×']).unwrap_or((text, ""));
    match (width.parse(), height.parse()) {
        (Ok(w), Ok(h)) if SIDES.contains(&w) && SIDES.contains(&h) => Ok((w, h)),
        _ => Err(format!(
            "width and height from {} to {}, as 1600x1200",
            SIDES.start(),
            SIDES.end()
        )),
    }
}

/// Tasks above the prediction interval of their model: where there are more than chance explains, or always.
fn slow_tasks(trace: &Trace, always: bool) -> BTreeSet<u32> {
    let models = models::fit(&trace.tables, models::LEVEL);
    let shown = always || models.beyond_chance();
    let slow = models.anomalies().iter().filter(|_| shown);
    slow.map(|anomaly| anomaly.task).collect()
}

/// Draws, and tells what was written.
pub fn run(args: &PlotArgs) -> Result<(), Failure> {
    let format = args.format.or_else(|| {
        let ending = args.output.as_deref()?.extension()?.to_str()?;
        Format::from_str(ending, true).ok()
    });
    let format = format.unwrap_or(Format::Svg);
    let ending = format.ending();
    let all = args.panel.iter().any(|name| name == "all");
    // Each picture by the panels that are on it.
    let pictures: Vec<Vec<&'static PanelEntry>> = match all {
        true => PANELS.iter().map(|panel| vec![panel]).collect(),
        false => {
            let names = args.panel.iter();
            vec![names.filter_map(|name| PanelEntry::named(name)).collect()]
        }
    };
    let target = |panels: Vec<&'static PanelEntry>| {
        let names: Vec<&str> = panels.iter().map(|panel| panel.name).collect();
        let file = format!("{}.{ending}", names.join("-"));
        let path = match (&args.output, all) {
            (Some(folder), true) => folder.join(file),
            (Some(file), false) => file.clone(),
            (None, _) => file.into(),
        };
        (panels, names.join(", "), path)
    };
    let targets: Vec<_> = pictures.into_iter().map(target).collect();
    for (_, _, path) in &targets {
        check_target(path, args.force).map_err(failure)?;
    }
    let trace = open_whole(&args.trace)?;
    let options = PanelOptions {
        size: args.size,
        from_ns: args.from,
        to_ns: args.to,
        marked: match args.plain {
            true => BTreeSet::new(),
            false => slow_tasks(&trace, args.anomalies),
        },
        step_ns: args.step,
        load_classes: args.classes,
    };
    let mut written = Vec::new();
    for (panels, names, path) in targets {
        let pages = panels.iter().map(|panel| panel.draw(&trace, &options));
        let pages = pages.collect::<Result<Vec<_>, _>>().map_err(failure)?;
        let scene = Scene::stacked(pages);
        let bytes = match format {
            Format::Svg => panels::svg(&scene).into_bytes(),
            Format::Png => panels::png(&scene, f64::from(args.scale)).map_err(failure)?,
        };
        panels::write(&path, &bytes, args.force).map_err(failure)?;
        written.push((names, path, bytes.len()));
    }
    let mut page = Page::default();
    let pictures = plural(written.len(), "picture", "pictures");
    page.title("Drawn", &format!("{pictures} of {}", args.trace.display()));
    page.gap();
    for (name, path, bytes) in written {
        page.row(
            &name,
            &format!("{:<9} {}", si(bytes as f64, "B"), show(&path)),
        );
    }
    page::print(&page.text())
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

/// What can be advised.
pub fn failure(error: PanelError) -> Failure {
    let plain = Failure::input(&error);
    match error {
        PanelError::Exists { path } if path.is_dir() => {
            plain.hint("-o names the picture; a folder is for --panel all")
        }
        PanelError::Exists { .. } => plain.hint("--force replaces pictures"),
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!(size("1600x1200"), Ok((1600, 1200)));
        for text in [
            "",
            "1600",
            "x",
            "1600x",
            "10x10",
            "1600x99999",
            "axb",
            "-5x800",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
