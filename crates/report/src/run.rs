//! What is known about a C, C++, OpenMP or Rust program after `deadheat run`.

use deadheat_model::Finding;
use deadheat_model::guarantee::{Guarantee, Limit, Scope};
use deadheat_native::Survey;
use serde::{Serialize, Serializer};

use crate::filter::Filter;
use crate::json::FindingsJson;
use crate::words::{self, guarantee};

/// What `deadheat run` says about a program.
pub struct RunReport {
    /// What found the races.
    pub engine: &'static str,
    /// What happened.
    pub survey: Survey,
    /// What could have happened, if that was asked for.
    pub other_orders: Option<OtherOrders>,
    /// What is promised.
    pub promise: Guarantee,
}

/// What another order of what a program's threads did would have shown.
#[derive(Default)]
pub struct OtherOrders {
    /// Races, each with the order that shows it.
    pub findings: Vec<Finding>,
    /// How many pairs of places could not be decided.
    pub undecided: u64,
    /// Whether no other reordering of what the threads did shows a race that is not listed.
    pub complete: bool,
    /// What limits what is said of the run, and of them.
    pub limits: Vec<Limit>,
}

impl RunReport {
    /// What a run has shown.
    pub fn of_run(survey: Survey) -> RunReport {
        let (engine, scope) = match survey.openmp {
            Some(_) => ("openmp", Scope::Threads),
            None => ("fasttrack", Scope::Run),
        };
        RunReport {
            engine,
            promise: promise(&survey, scope),
            survey,
            other_orders: None,
        }
    }

    /// What a run has shown, and what other orders of it would have; or why that is not known.
    pub fn of_prediction(survey: Survey, predicted: Result<OtherOrders, String>) -> RunReport {
        let mut promise = promise(&survey, Scope::Orders);
        let mut others = match predicted {
            Ok(others) => others,
            Err(why) => {
                promise.limit(Limit::NotPredicted(why));
                OtherOrders::default()
            }
        };
        for limit in std::mem::take(&mut others.limits) {
            promise.limit(limit);
        }
        if promise.scope() >= Scope::Run && !others.complete && others.undecided == 0 {
            promise.limit(Limit::NotAllOrders);
        }
        if others.undecided > 0 {
            promise.limit(Limit::Undecided(others.undecided));
        }
        others.complete &= promise.scope() == Scope::Orders;
        RunReport {
            engine: "hb, m2",
            survey,
            other_orders: Some(others),
            promise,
        }
    }

    /// Its findings: those of the run, then those of other orders.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let predicted = self.other_orders.iter();
        let predicted = predicted.flat_map(|prediction| &prediction.findings);
        self.survey.findings.iter().chain(predicted)
    }

    /// Whether something went unchecked, so that what was not found proves nothing.
    pub fn is_unchecked(&self) -> bool {
        self.promise.scope() == Scope::Nothing || !self.survey.unchecked.is_empty()
    }

    /// What all this proves.
    pub fn guarantee(&self) -> String {
        guarantee::of_run(self)
    }
}

/// Leaves out what a baseline knows.
pub fn leave_out_known(survey: &mut Survey, filter: &Filter) {
    let mut left_out = filter.start();
    survey
        .findings
        .retain(|finding| !filter.knows(finding, &mut left_out));
    survey.in_baseline = left_out.known;
}

/// What a run promises, as far as what was lost allows.
fn promise(survey: &Survey, scope: Scope) -> Guarantee {
    let scope = match survey.processes {
        0 => Scope::Nothing,
        _ => scope,
    };
    let mut promise = Guarantee::new(scope);
    for unchecked in &survey.unchecked {
        promise.limit(Limit::Unchecked(unchecked.clone()));
    }
    if let Some(openmp) = &survey.openmp {
        let limits = [
            (openmp.locks, Limit::SectionsDecide),
            (openmp.static_loops, Limit::StaticLoops),
            (openmp.thread_numbers, Limit::ThreadNumbers),
            (openmp.threads_choose, Limit::ThreadsChoose),
            (openmp.messages, Limit::Messages),
            (openmp.team_of_one, Limit::TeamOfOne),
        ];
        for (holds, limit) in limits {
            if holds {
                promise.limit(limit);
            }
        }
        if openmp.never_run > 0 {
            promise.limit(Limit::TasksNotRun(openmp.never_run));
        }
    }
    if let Some(why) = survey.full {
        promise.limit(Limit::NoRoom(why));
    }
    if survey.dropped > 0 {
        promise.limit(Limit::Untracked(survey.dropped));
    }
    if survey.unreported > 0 {
        promise.limit(Limit::OnlyCounted(survey.unreported));
    }
    if survey.damaged > 0 {
        promise.limit(Limit::Unreadable(survey.damaged));
    }
    if survey.killed > 0 {
        promise.limit(Limit::Killed);
    }
    if survey.aborted {
        promise.limit(Limit::Aborted);
    }
    if survey.left_behind {
        promise.limit(Limit::StillRunning);
    }
    promise
}

/// The report as JSON, in the order of its fields.
#[derive(Serialize)]
struct Json<'r> {
    engine: &'static str,
    threads: u64,
    races: FindingsJson<'r>,
    suppressed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<u64>,
    /// What the main clause of the guarantee is about.
    scope: Scope,
    guarantee: String,
    /// What threads waited for when the time was up, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<String>,
    #[serde(flatten)]
    prediction: Option<PredictionJson<'r>>,
}

#[derive(Serialize)]
struct PredictionJson<'r> {
    predicted: FindingsJson<'r>,
    undecided: u64,
    complete: bool,
}

impl Serialize for RunReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let prediction = self.other_orders.as_ref().map(|prediction| PredictionJson {
            predicted: FindingsJson(&prediction.findings),
            undecided: prediction.undecided,
            complete: prediction.complete,
        });
        let json = Json {
            engine: self.engine,
            threads: self.survey.threads,
            races: FindingsJson(&self.survey.findings),
            suppressed: self.survey.suppressed,
            known: self.survey.in_baseline,
            scope: self.promise.scope(),
            guarantee: self.guarantee(),
            waiting: self.survey.waiting.iter().map(words::waits).collect(),
            prediction,
        };
        json.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use deadheat_native::OpenMp;

    use super::*;

    #[test]
    fn a_recording_that_was_not_judged_to_its_end_has_no_promise_for_the_run() {
        // A program that was checked: of no process, nothing is promised at all.
        let ran = || {
            let mut survey = Survey::default();
            survey.processes = 1;
            survey
        };
        let others = |limits| OtherOrders {
            complete: true,
            limits,
            ..OtherOrders::default()
        };
        let all = RunReport::of_prediction(ran(), Ok(others(Vec::new())));
        assert!(all.guarantee().starts_with("no race in this run"));
        assert_eq!(all.promise.scope(), Scope::Orders);
        let cut = Limit::NotAllJudged("its time was up".to_string());
        let some = RunReport::of_prediction(ran(), Ok(others(vec![cut])));
        let said = some.guarantee();
        assert_eq!(some.promise.scope(), Scope::PartOfRun);
        assert!(
            said.starts_with("no race in what was seen of this run"),
            "{said}"
        );
        assert!(said.contains("races may be missing"), "{said}");
        assert!(!said.contains("no other order"), "{said}");
    }

    #[test]
    fn what_one_run_of_openmp_cannot_know_comes_before_what_it_promises() {
        let said = |limit: &dyn Fn(&mut OpenMp)| {
            let mut survey = Survey::default();
            survey.processes = 1;
            survey.threads = 2;
            limit(survey.openmp.insert(OpenMp::default()));
            RunReport::of_run(survey).guarantee()
        };
        let unlimited = said(&|_| {});
        assert!(unlimited.starts_with("no race between threads or tasks"));
        let all: [&dyn Fn(&mut OpenMp); 7] = [
            &|openmp| openmp.locks = true,
            &|openmp| openmp.static_loops = true,
            &|openmp| openmp.thread_numbers = true,
            &|openmp| openmp.team_of_one = true,
            &|openmp| openmp.never_run = 3,
            &|openmp| openmp.messages = true,
            &|openmp| openmp.threads_choose = true,
        ];
        for limit in all {
            let one = said(limit);
            let (first, promise) = one.split_once("; within that limit, ").unwrap();
            assert!(!first.contains("no race"), "{one}");
            assert!(promise.starts_with("no race"), "{one}");
            let more = promise.split_once("; ").map(|(_, more)| more);
            let of_a_run = "another schedule or input may have one";
            assert!(more.is_none_or(|more| more == of_a_run), "{one}");
        }
        let two = said(&|openmp| (openmp.locks, openmp.static_loops) = (true, true));
        assert!(two.contains("; within these limits, no race between the tasks of this run"));
    }
}
