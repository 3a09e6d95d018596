//! One suite that every driver passes: the contract, as questions to a platform.
//!
//! A driver's tests give a [`Fixture`] and call [`run_all`]. The cases use nothing but the
//! contract, so they hold for a platform in memory, on this host or far away; how long a
//! platform may take is the fixture's to say.

mod cases;
mod changes;
mod fixture;
mod power;

use std::{fmt, future::Future, pin::Pin};

pub use fixture::{Fixture, smallest_want};

/// What a case found: nothing, or how the contract was broken.
pub type Outcome = Result<(), String>;
type Running<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// One question to a platform.
pub struct Case {
    /// What must hold.
    pub name: &'static str,
    run: for<'a> fn(&'a dyn Fixture) -> Running<'a>,
}

impl Case {
    /// Asks it.
    ///
    /// # Errors
    /// How the contract was broken.
    pub async fn run(&self, fixture: &dyn Fixture) -> Outcome {
        (self.run)(fixture).await
    }
}

/// What came of every case.
#[derive(Debug, Default)]
pub struct Report {
    /// Each case with what it found.
    pub outcomes: Vec<(&'static str, Outcome)>,
}

impl Report {
    /// Whether every case passed.
    pub fn passed(&self) -> bool {
        !self.outcomes.is_empty() && self.outcomes.iter().all(|(_, outcome)| outcome.is_ok())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, outcome) in &self.outcomes {
            match outcome {
                Ok(()) => writeln!(f, "ok      {name}")?,
                Err(reason) => writeln!(f, "BROKEN  {name}: {reason}")?,
            }
        }
        Ok(())
    }
}

/// Every case of the suite.
pub fn all() -> Vec<Case> {
    macro_rules! case {
        ($module:ident :: $name:ident) => {
            Case {
                name: stringify!($name),
                run: |fixture| Box::pin($module::$name(fixture)),
            }
        };
    }
    vec![
        case!(cases::an_unknown_key_finds_nothing),
        case!(cases::what_is_offered_is_told_by_name),
        case!(cases::a_created_machine_is_found),
        case!(cases::facts_are_complete),
        case!(cases::creating_twice_makes_one),
        case!(cases::creating_at_once_makes_one),
        case!(cases::only_the_own_cluster_is_listed),
        case!(cases::a_missing_image_is_rejected_and_leaves_nothing),
        case!(cases::another_instance_finds_the_machine),
        case!(cases::a_deleted_machine_is_gone),
        case!(cases::deleting_needs_the_key),
        case!(cases::changes_are_hinted_at),
        case!(power::a_machine_declared_off_is_made_and_not_started),
        case!(power::stopping_and_starting_keep_the_machine),
        case!(power::a_restart_starts_it_again),
        case!(power::changing_needs_the_key),
        case!(changes::a_machine_is_resized),
        case!(changes::disks_come_grow_and_go),
        case!(changes::interfaces_come_and_go),
        case!(changes::tags_are_changed),
    ]
}

/// Asks every question in turn.
pub async fn run_all(fixture: &dyn Fixture) -> Report {
    let mut report = Report::default();
    for case in all() {
        report.outcomes.push((case.name, case.run(fixture).await));
    }
    report
}

/// Ends the case with a message unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err(format!($($message)+));
        }
    };
}
use ensure;
