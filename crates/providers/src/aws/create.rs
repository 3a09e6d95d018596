//! Making an instance exactly once.
//!
//! The token of a request is made of the machine's key, so that EC2 answers a second request with
//! the instance of the first. It does so for a day after that instance is gone, too: then the next
//! token is made of the key and the id of the one that is gone, and so on.

use machinist_core::{
    machine::{Facts, MachineKey, Want},
    provider::{ProviderError, ProviderResult},
};
use sha2::{Digest, Sha256};

use super::{
    Aws,
    launch::{at_fault, request},
    look::{ById, View, read_instance},
    model::{Instance, State},
    wire::{AwsError, Meaning, Query, busy},
};

/// How many instances of one machine may be gone within a day before its driver gives up.
const MOST_GONE: usize = 50;
/// An image that there cannot be: a request for it has no effect.
const NO_IMAGE: &str = "ami-00000000000000000";

impl Aws {
    pub(super) async fn make(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        let view = self.view_of(key).await.map_err(AwsError::plainly)?;
        if let Some(facts) = self.alive(key, &view).await {
            return Ok(facts);
        }
        let named = self.named(want).await.map_err(AwsError::plainly)?;
        // What cannot be written as a request is no proof that there is no machine: the token of
        // an earlier declaration may have made one that does not show yet. EC2 is asked for that.
        let (query, refused) = match request(key, want, &named) {
            Ok(query) => (query, None),
            Err(refused) => (nothing(), Some(refused)),
        };
        let mut token = token(key, None);
        for _ in 0..MOST_GONE {
            let query = query.clone().with("ClientToken", &token);
            let gone = match self.client.call(&query).await {
                Ok(answer) => match self.verify(key, &answer).await? {
                    Verified::Here(facts) => return Ok(*facts),
                    Verified::Gone(id) => id,
                },
                Err(error) if error.meaning() == Some(Meaning::TokenUsed) => {
                    match self.made_with(key, &token).await? {
                        Verified::Here(facts) => return Ok(*facts),
                        Verified::Gone(id) => id,
                    }
                }
                Err(error) => return Err(self.refused(key, want, error, refused).await?),
            };
            token = self::token(key, Some(&gone));
        }
        Err(busy(
            "too many instances of this machine were terminated within a day",
            None,
        ))
    }

    /// The live machine in a view. What remains of one that is gone does not keep it from being
    /// made anew.
    async fn alive(&self, key: &MachineKey, view: &View) -> Option<Facts> {
        let lives = view.instances.iter().any(|instance| !instance.is_gone());
        let found = if lives {
            self.facts(key, view).await
        } else {
            Vec::new()
        };
        found.into_iter().next()
    }

    /// EC2 may answer with the words of its first answer, so what it names is read again.
    async fn verify(
        &self,
        key: &MachineKey,
        answer: &super::wire::Element,
    ) -> ProviderResult<Verified> {
        let item = answer.items(&["instancesSet"]).next();
        let item = item.ok_or(AwsError::Incomplete {
            action: "RunInstances",
            missing: "instance",
        });
        let told = item.and_then(read_instance).map_err(AwsError::plainly)?;
        match self.by_id(&told.id).await.map_err(AwsError::plainly)? {
            ById::Gone => Ok(Verified::Gone(told.id)),
            ById::Unknown => self.judge(key, told).await,
            ById::Known(now) => self.judge(key, *now).await,
        }
    }

    async fn judge(&self, key: &MachineKey, instance: Instance) -> ProviderResult<Verified> {
        match instance.state {
            State::Terminated => return Ok(Verified::Gone(instance.id)),
            State::ShuttingDown => {
                let why = format!(
                    "{}, which was the machine before, is being removed",
                    instance.id
                );
                return Err(busy(why, None));
            }
            State::Pending | State::Running | State::Stopping | State::Stopped | State::Other => {}
        }
        let volumes = self.volumes(super::tags::KEY, &[&key.to_string()]).await;
        let view = View {
            instances: vec![instance],
            volumes: volumes.map_err(AwsError::plainly)?,
        };
        let facts = self.alive(key, &view).await;
        let facts = facts.ok_or_else(|| busy("the machine is being removed", None))?;
        Ok(Verified::Here(Box::new(facts)))
    }

    /// The token was used for another declaration: the instance is there, or was.
    async fn made_with(&self, key: &MachineKey, token: &str) -> ProviderResult<Verified> {
        let view = self.view_of(key).await.map_err(AwsError::plainly)?;
        if let Some(facts) = self.alive(key, &view).await {
            return Ok(Verified::Here(Box::new(facts)));
        }
        let before = view.instances.into_iter();
        let mut before = before.filter(|instance| instance.token.as_deref() == Some(token));
        match before.next() {
            Some(gone) => Ok(Verified::Gone(gone.id)),
            None => Err(busy(
                "EC2 made the machine for an earlier declaration, and does not show it yet",
                None,
            )),
        }
    }

    /// Why nothing was made. A refusal is proof that no machine carries the key, so it counts only
    /// when another look finds none either.
    async fn refused(
        &self,
        key: &MachineKey,
        want: &Want,
        error: AwsError,
        refused: Option<ProviderError>,
    ) -> ProviderResult<ProviderError> {
        let invalid = error.meaning() == Some(Meaning::Invalid);
        let told = error.told(|code| at_fault(code, want));
        let final_word = match (refused, invalid) {
            (Some(refused), true) => refused,
            (_, _) => told,
        };
        match final_word {
            ProviderError::Rejected { .. }
            | ProviderError::NoCapacity { .. }
            | ProviderError::Unsupported { .. } => {}
            unknown => return Ok(unknown),
        }
        let view = self.view_of(key).await.map_err(AwsError::plainly)?;
        match view.instances.iter().any(|instance| !instance.is_gone()) {
            true => Err(busy("the machine is there by now", None)),
            false => Ok(final_word),
        }
    }
}

enum Verified {
    Here(Box<Facts>),
    /// It was made, and the instance of this id is gone.
    Gone(String),
}

/// A request that has no effect but to tell whether its token was used.
fn nothing() -> Query {
    Query::new("RunInstances")
        .with("MinCount", "1")
        .with("MaxCount", "1")
        .with("ImageId", NO_IMAGE)
}

/// At most 64 characters, as EC2 wants them.
pub(super) fn token(key: &MachineKey, after: Option<&str>) -> String {
    let text = format!("{key} {}", after.unwrap_or_default());
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_of_key_and_predecessor_alone() {
        let key = MachineKey::new("c", "m").unwrap();
        let other = MachineKey::new("c", "n").unwrap();
        let first = token(&key, None);
        assert_eq!(first, token(&key, None));
        assert_eq!(first.len(), 64);
        assert_ne!(first, token(&other, None));
        assert_ne!(first, token(&key, Some("i-1")));
        assert_ne!(token(&key, Some("i-2")), token(&key, Some("i-1")));
    }
}
