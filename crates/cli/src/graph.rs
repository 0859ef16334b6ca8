//! `--graph FILE`: the picture of a run, as the file's name says.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use deadheat_model::{Execution, Race};
use deadheat_offline::{ComputationGraph, Engine, EngineError};
use deadheat_report::Drawing;
use thiserror::Error;

/// A graph of more nodes is not counted to its end.
const MAX_COUNTED: usize = 1_000_000;

/// Where a picture goes, and what it is.
#[derive(Clone)]
pub struct GraphFile {
    pub path: PathBuf,
    format: Format,
}

#[derive(Clone, Copy)]
enum Format {
    Svg,
    Dot,
}

impl FromStr for GraphFile {
    type Err = String;

    fn from_str(text: &str) -> Result<GraphFile, String> {
        let format = match Path::new(text).extension().and_then(OsStr::to_str) {
            Some("svg") => Format::Svg,
            Some("dot") => Format::Dot,
            _ => return Err("the file's name must end in .svg or .dot".to_string()),
        };
        Ok(GraphFile {
            path: text.into(),
            format,
        })
    }
}

/// Why there is no picture.
#[derive(Debug, Error)]
pub enum CannotDraw {
    #[error(
        "the run's graph has {}{nodes} nodes, and a {format} file has room for {most}; draw a run on \
         a smaller input{}",
        if *more { "more than " } else { "" },
        match dot {
            true => ", or write a .dot file",
            false => "",
        }
    )]
    TooLarge {
        nodes: usize,
        /// Whether there are more than that.
        more: bool,
        format: &'static str,
        most: usize,
        /// Whether a .dot file has room for it.
        dot: bool,
    },
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl GraphFile {
    /// The picture of an execution with its races.
    pub fn draw(
        &self,
        title: &str,
        execution: &Execution,
        races: &[Race],
    ) -> Result<String, CannotDraw> {
        let graph = ComputationGraph::new(execution, Engine::Graph, MAX_COUNTED, |_| false)?;
        let (format, most) = match self.format {
            Format::Svg => (".svg", Drawing::MAX_SVG),
            Format::Dot => (".dot", Drawing::MAX_DOT),
        };
        if graph.len() > most {
            return Err(CannotDraw::TooLarge {
                nodes: graph.len(),
                more: graph.events() < execution.events.len(),
                format,
                most,
                dot: graph.len() <= Drawing::MAX_DOT,
            });
        }
        let drawing = Drawing::new(title, execution, &graph, races);
        Ok(match self.format {
            Format::Svg => drawing.svg(),
            Format::Dot => drawing.dot(),
        })
    }
}
