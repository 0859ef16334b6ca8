//! `deadheat run --predict`: a C or C++ program is recorded; then its trace tells what happened and what could have.

use std::path::Path;

use deadheat_model::StopToken;
use deadheat_native::{NativeRace, Suppressions, Survey};
use deadheat_offline::m2;
use deadheat_offline::threads::hb;
use deadheat_report::{
    AnalyzeReport, Chapter, Excerpts, Filter, Graph, PredictReport, PredictedRace, Room, Sources,
    Story, identity, native_entries, native_race, predicted_entries,
};
use deadheat_trace::TraceError;
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use crate::{
    AnalyzeError, AnalyzeOptions, EngineChoice, RecordError, RecordOptions, Recording, RunOptions,
    Verdict, Watch, analyze, record,
};

/// Why nothing could be predicted.
#[derive(Debug, Error)]
pub enum PredictError {
    /// It could not be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// There is no room for the recording.
    #[error(
        "no directory for the recording could be made: {0}; set TMPDIR to a directory that can be written to"
    )]
    Room(#[from] std::io::Error),
    /// Its trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Its trace cannot be judged.
    #[error(transparent)]
    Analyze(#[from] AnalyzeError),
}

/// A program that has run, and what it could have done.
pub struct Prediction {
    recording: Recording,
    happened: Survey,
    predicted: Vec<PredictedRace>,
    program: String,
    /// The files that it is about.
    pub sources: Sources,
    /// What was found; nothing if the program was not built to be recorded.
    pub report: Option<PredictReport>,
    /// What restricts the verdict: recordings that are not whole.
    pub warnings: Vec<String>,
    /// What the checker refused: to be told.
    pub complaints: Vec<String>,
}

impl Prediction {
    /// The program's own exit status.
    pub fn status(&self) -> u8 {
        self.recording.status()
    }

    /// Whether there was or could have been a race.
    pub fn has_race(&self) -> bool {
        !self.happened.races.is_empty() || !self.predicted.is_empty()
    }
}

impl Verdict for Prediction {
    type Report = PredictReport;

    fn reports(&self) -> &[PredictReport] {
        self.report.as_slice()
    }

    fn text(&self, most: usize) -> String {
        let excerpts = Excerpts::new(&self.sources);
        let report = self.report.as_ref();
        report.map_or(String::new(), |report| {
            excerpts.prediction(&self.happened, &self.predicted, report, most)
        })
    }

    fn warning(&self) -> Option<String> {
        self.sources.newer_than(Path::new(&self.program))
    }

    fn chapter(&self) -> Chapter<'_> {
        let mut entries = native_entries(&self.happened.races, "hb", &self.sources);
        entries.extend(predicted_entries(&self.predicted, &self.sources));
        let report = self.report.as_ref();
        let guarantee = report.map(|report| report.guarantee().to_string());
        let guarantees = guarantee.into_iter().collect();
        Chapter::new(self.program.clone(), entries, guarantees, &self.sources)
    }

    fn illustrated(&self) -> Chapter<'_> {
        let mut chapter = self.chapter();
        let name = |race| identity(race, &self.sources);
        let happened = self.happened.races.iter();
        let happened: FxHashMap<String, &NativeRace> =
            happened.map(|race| (name(race), race)).collect();
        let predicted = self.predicted.iter();
        let predicted: FxHashMap<String, &PredictedRace> =
            predicted.map(|found| (name(&found.race), found)).collect();
        let mut room = Room::default();
        for entry in &mut chapter.entries {
            let race = happened.get(&entry.fingerprint);
            entry.graph = race.map(|race| Graph::of_program(race));
            if let Some(found) = predicted.get(&entry.fingerprint) {
                entry.story = Story::of_witness(&found.witness, &mut room);
            }
        }
        chapter
    }
}

/// Records a program built by `deadheat cc` or `deadheat c++`, and tells what happened and what could have.
/// Signals belong to the program while it runs; `stop` is asked for when it has ended.
pub fn predict(
    options: &RunOptions,
    filter: &Filter,
    limit: u64,
    stop: impl FnOnce() -> StopToken,
    watch: Watch,
) -> Result<Prediction, PredictError> {
    let nothing = Suppressions::default();
    let suppressions = filter.suppressions.as_ref().unwrap_or(&nothing);
    let room = tempfile::Builder::new().prefix("deadheat-").tempdir()?;
    let recorded = RecordOptions {
        program: options.program.clone(),
        output: room.path().join("run.dht"),
        limit: Some(limit),
    };
    let recording = record(&recorded, watch)?;
    let stop = stop();
    let mut prediction = Prediction {
        recording,
        happened: Survey::default(),
        predicted: Vec::new(),
        program: options.program.path.to_string_lossy().into_owned(),
        sources: Sources::default(),
        report: None,
        warnings: Vec::new(),
        complaints: Vec::new(),
    };
    prediction.happened.left_behind = prediction.recording.left_behind();
    let mut judged: Vec<Result<AnalyzeReport, String>> = Vec::new();
    let mut left_out = filter.start();
    for (path, recorded) in &prediction.recording.traces {
        prediction.happened.processes += 1;
        prediction.happened.threads += recorded.threads;
        if recorded.full {
            prediction.happened.full =
                Some("--limit, a full disk below TMPDIR, or a limit on the size of files");
            prediction.warnings.push(
                "the recording ends before the program did: there was no more room; --limit gives more"
                    .to_string(),
            );
        }
        if recorded.tasks > 0 {
            prediction.warnings.push(
                "what one thread of OpenMP runs of loops, sections and `single` is taken to be in that order here; \
                 `deadheat run` without --predict tells it apart"
                    .to_string(),
            );
        }
        let source = deadheat_trace::open(path)?;
        let asked = AnalyzeOptions {
            engines: EngineChoice::These(vec![&hb::ENGINE, &m2::ENGINE]),
            stop,
            ..AnalyzeOptions::default()
        };
        let analysis = match analyze(&source, &asked, watch) {
            // One thread that has done nothing of note.
            Err(AnalyzeError::Empty) => continue,
            analysis => analysis?,
        };
        prediction.complaints.extend(analysis.refused);
        let mut suppressed = FxHashSet::default();
        let mut covers = |race: &NativeRace, places| {
            let covers = suppressions.cover(race) || recorded.suppressions.cover(race);
            if covers && suppressed.insert(places) {
                prediction.happened.suppressed += 1;
            }
            covers
        };
        let mut known = FxHashSet::default();
        for report in analysis.reports {
            let predicts = report.engine == m2::ENGINE.name;
            for found in &report.races {
                let race = native_race(&found.pair, recorded);
                if known.contains(&found.pair.places) || covers(&race, found.pair.places) {
                    continue;
                }
                if filter.knows(&identity(&race, &prediction.sources), &mut left_out) {
                    known.insert(found.pair.places);
                    continue;
                }
                match &found.witness {
                    Some(witness) if predicts => prediction.predicted.push(PredictedRace {
                        race,
                        witness: witness.clone(),
                    }),
                    _ if predicts => {}
                    _ => {
                        known.insert(found.pair.places);
                        prediction.happened.races.push(race);
                    }
                }
            }
            if predicts {
                judged.push(Ok(report));
            }
        }
        let mine = analysis
            .failures
            .iter()
            .map(|failure| Err(failure.to_string()));
        judged.extend(mine);
    }
    prediction.happened.in_baseline = left_out.known;
    if !prediction.recording.traces.is_empty() {
        let judged: Result<Vec<AnalyzeReport>, String> = judged.into_iter().collect();
        let judged = judged.as_deref().map_err(String::clone);
        let (happened, predicted) = (&prediction.happened, &prediction.predicted);
        let sources = &prediction.sources;
        prediction.report = Some(PredictReport::new(happened, predicted, sources, judged));
    }
    Ok(prediction)
}
