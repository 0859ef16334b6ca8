//! The engines there are, what each can order, and which one fits.

use deadheat_model::{Construct, EventNumber, Execution, Op, Race};
use deadheat_order::Full;
use thiserror::Error;

use crate::{esp_bags, graph, replay, zipper};

/// What can judge a recorded execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Engine {
    EspBags,
    Spd3,
    Drdp,
    Zipper,
    Graph,
}

impl Engine {
    /// Every engine, the ones to be preferred first.
    pub const ALL: [Engine; 5] = [
        Engine::Spd3,
        Engine::EspBags,
        Engine::Drdp,
        Engine::Zipper,
        Engine::Graph,
    ];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Engine::EspBags => "esp-bags",
            Engine::Spd3 => "spd3",
            Engine::Drdp => "drdp",
            Engine::Zipper => "zipper",
            Engine::Graph => "graph",
        }
    }

    /// Whether it knows what a construct orders.
    pub fn orders(self, construct: Construct) -> bool {
        use Construct::*;
        match self {
            Engine::EspBags | Engine::Spd3 => matches!(construct, Async | Finish),
            Engine::Drdp => matches!(construct, Async | Finish | Future | Promise | Fork),
            Engine::Zipper => construct == Isolated || Engine::Drdp.orders(construct),
            Engine::Graph => !matches!(construct, ReadWriteLock | Barrier | Atomic),
        }
    }

    /// Refuses an event that belongs to a construct it does not know.
    pub(crate) fn accept(self, op: &Op, number: EventNumber) -> Result<(), EngineError> {
        match op.construct() {
            Some(construct) if !self.orders(construct) => Err(EngineError::CannotOrder {
                engine: self,
                number,
                construct,
                instead: Engine::fitting(&[construct]),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses an execution that has such an event.
    pub(crate) fn accept_all(self, execution: &Execution) -> Result<(), EngineError> {
        let mut events = execution.events.iter().zip(1..);
        events.try_for_each(|(event, number)| self.accept(&event.op(), number))
    }

    /// The engine to be preferred for some constructs; none if no engine orders them all.
    pub fn fitting(constructs: &[Construct]) -> Option<Engine> {
        let mut engines = Engine::ALL.into_iter();
        engines.find(|engine| constructs.iter().all(|&c| engine.orders(c)))
    }

    /// Judges an execution.
    pub fn check(self, execution: &Execution) -> Result<Findings, EngineError> {
        match self {
            Engine::EspBags => esp_bags::check(execution),
            Engine::Spd3 => replay::spd3::check(execution),
            Engine::Drdp => replay::drdp::check(execution),
            Engine::Zipper => zipper::check(execution),
            Engine::Graph => graph::check(execution).map(|graph| Findings {
                judged: graph.graph.events(),
                races: graph.races,
                complete: graph.complete,
            }),
        }
    }
}

/// What an engine found in an execution.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The races: one for each location and pair of places, with how many pairs of accesses it stands
    /// for, in the order of the second access. Every location that races has at least one.
    pub races: Vec<Race>,
    /// Whether these are all: once a location has very many, no more of its races are looked into.
    pub complete: bool,
    /// How many events were judged, from the first.
    pub judged: usize,
}

/// Why an engine cannot judge an execution.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum EngineError {
    /// It does not know what a construct orders.
    #[error(
        "event {number}: the engine {} cannot order `{}`{}",
        engine.name(),
        construct.word(),
        match instead {
            Some(instead) => format!("; {} can", instead.name()),
            None => String::new(),
        }
    )]
    CannotOrder {
        /// The engine.
        engine: Engine,
        /// Which event, from 1.
        number: EventNumber,
        /// What it belongs to.
        construct: Construct,
        /// An engine that can.
        instead: Option<Engine>,
    },
    /// There are more tasks than numbers for them.
    #[error(transparent)]
    Full(#[from] Full),
}
