//! The scheduler: which provider a machine that names none is made on.
//!
//! [`Demand`] is what the machine asks for and [`Offer`] what a provider declares and was seen to
//! have; [`filter`](Offer::misfit) says why one does not fit, `score` which of those that fit is
//! best, and [`Sites`] keeps, for all providers, how much of them is taken. Nothing here does I/O
//! or reads a clock: the same inputs give the same choice, in whatever order they came.
//!
//! Making the choice durable, and waking machines that found no place, is left to the engine.

mod cache;
mod demand;
mod filter;
mod offer;
mod score;
mod shared;
mod verdict;

pub use cache::{Load, Sites};
pub use demand::{Demand, Take};
pub use filter::Reason;
pub use offer::{Offer, Preset, Room, Standing};
pub use score::Score;
pub use shared::{Names, Presets, Shared};
pub use verdict::{Chosen, Placement, Rejected};

use std::sync::Arc;

/// Namespace and name of a provider.
pub type SiteName = (String, String);

/// Chooses among providers. `objects` has the last word on the best one: what only a closer look
/// shows is a reason like any other, and the next best is taken.
pub fn place<'a>(
    demand: &Demand,
    sites: impl IntoIterator<Item = (&'a Arc<SiteName>, &'a Offer, &'a Load)>,
    mut objects: impl FnMut(&SiteName) -> Result<(), String>,
) -> Placement {
    let mut placement = Placement::default();
    let mut fitting = Vec::new();
    for (name, offer, load) in sites {
        let named = offer.elsewhere(demand).or_else(|| offer.unsuited(demand));
        let take = match named {
            Some(_) => Take::default(),
            None => offer.take(demand),
        };
        let reason = named
            .or_else(|| offer.too_large(demand, take))
            .or_else(|| load.misfit(demand, offer, take));
        match reason {
            Some(reason) => placement.reject(name, reason),
            None => fitting.push((score::of(demand, offer, load, take), name, take, load)),
        }
    }
    while placement.chosen.is_none() && !fitting.is_empty() {
        let best = fitting.iter().enumerate().max_by(|(_, a), (_, b)| {
            // The order of a list is chance; a tie must not be decided by it.
            a.0.cmp(&b.0).then_with(|| b.1.cmp(a.1))
        });
        let Some((index, _)) = best else { break };
        let (score, name, take, load) = fitting.swap_remove(index);
        match objects(name) {
            Ok(()) => {
                placement.chosen = Some(Chosen {
                    site: name.clone(),
                    score,
                    machines: load.machines,
                    take,
                });
            }
            Err(words) => placement.reject(name, Reason::Unfit(words.into())),
        }
    }
    for (score, name, ..) in fitting {
        placement.reject(name, Reason::Outscored(score));
    }
    placement
}
