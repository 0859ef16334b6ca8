//! The picture of a run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use deadheat_model::{Execution, Race};
use deadheat_offline::ComputationGraph;
use deadheat_report::Drawing;
use thiserror::Error;

/// A graph of more nodes is not counted to its end.
const MAX_COUNTED: usize = 1_000_000;

/// What a picture is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureFormat {
    /// Scalable vector graphics, for browsers.
    Svg,
    /// A graph for Graphviz.
    Dot,
}

impl PictureFormat {
    /// The file of a picture, whose name says what it is.
    pub fn file(name: &str) -> Result<PathBuf, String> {
        let path = PathBuf::from(name);
        PictureFormat::of_name(&path).map(|_| path)
    }

    /// What a file's name says it is.
    pub fn of_name(path: &Path) -> Result<PictureFormat, String> {
        match path.extension().and_then(OsStr::to_str) {
            Some("svg") => Ok(PictureFormat::Svg),
            Some("dot") => Ok(PictureFormat::Dot),
            _ => Err("the file's name must end in .svg or .dot".to_string()),
        }
    }
}

/// Why there is no picture.
#[derive(Debug, Error)]
#[error(
    "the run's graph has {}{nodes} nodes, and a {format} file has room for {most}; draw a run on a \
     smaller input{}",
    if *more { "more than " } else { "" },
    if *dot { ", or write a .dot file" } else { "" }
)]
pub struct CannotDraw {
    nodes: usize,
    /// Whether there are more than that.
    more: bool,
    format: &'static str,
    most: usize,
    /// Whether a .dot file has room for it.
    dot: bool,
}

/// The picture of an execution with its races.
pub(crate) fn draw(
    title: &str,
    execution: &Execution,
    races: &[Race],
    format: PictureFormat,
) -> Result<String, CannotDraw> {
    let graph = ComputationGraph::new(execution, MAX_COUNTED, |_| false);
    let (name, most) = match format {
        PictureFormat::Svg => (".svg", Drawing::MAX_SVG),
        PictureFormat::Dot => (".dot", Drawing::MAX_DOT),
    };
    if graph.len() > most {
        return Err(CannotDraw {
            nodes: graph.len(),
            more: graph.events() < execution.events.len(),
            format: name,
            most,
            dot: graph.len() <= Drawing::MAX_DOT,
        });
    }
    let drawing = Drawing::new(title, execution, &graph, races);
    Ok(match format {
        PictureFormat::Svg => drawing.svg(),
        PictureFormat::Dot => drawing.dot(),
    })
}
