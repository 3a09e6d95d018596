//! Every error of every verb, folded into a few kinds; the kind fixes the exit code.

use std::{error::Error, fmt, process::ExitCode};

/// How a verb ends.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Whose turn it is to mend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A fault of Machinist.
    Internal,
    /// Wrong use: flags, manifests.
    User,
    /// Wrong configuration or environment: files, ports, missing programs.
    Configuration,
    /// The API server or a provider refused.
    Refused,
}

/// An error with its kind and, where there is one, the way out.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    error: anyhow::Error,
    hint: Option<String>,
    code: Option<u8>,
}

impl Kind {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Kind::Internal => 1,
            Kind::User => 2,
            Kind::Configuration => 3,
            Kind::Refused => 4,
        }
    }
}

impl Failure {
    fn new(kind: Kind, error: anyhow::Error) -> Failure {
        Failure {
            kind,
            error,
            hint: None,
            code: None,
        }
    }

    /// Ends the program with this code, whatever the kind: for verbs whose codes mean more.
    pub(crate) fn ending(mut self, code: u8) -> Failure {
        self.code = Some(code);
        self
    }

    /// Adds the way out.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    #[cfg(test)]
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.error.to_string();
        write!(f, "{said}")?;
        for cause in self.error.chain().skip(1) {
            let cause = cause.to_string();
            // Some libraries repeat their source in their own text.
            if !said.contains(&cause) {
                write!(f, ": {cause}")?;
            }
            said = cause;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  {hint}"),
            None => Ok(()),
        }
    }
}

/// Prints the failure and gives its exit code.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    eprintln!("machinist: {failure}");
    ExitCode::from(failure.code.unwrap_or(failure.kind.exit_code()))
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident => $kind:ident, $plain:ident;)+) => {$(
        $(#[$doc])*
        #[allow(dead_code, reason = "one constructor a kind, whether or not a verb needs it yet")]
        pub(crate) fn $name(
            what: impl fmt::Display + Send + Sync + 'static,
            source: impl Error + Send + Sync + 'static,
        ) -> Failure {
            Failure::new(Kind::$kind, anyhow::Error::new(source).context(what.to_string()))
        }

        /// The same, without a cause.
        #[allow(dead_code, reason = "one constructor a kind, whether or not a verb needs it yet")]
        pub(crate) fn $plain(what: impl fmt::Display) -> Failure {
            Failure::new(Kind::$kind, anyhow::anyhow!("{what}"))
        }
    )+};
}

kinds! {
    /// A fault of Machinist.
    internal => Internal, internal_plain;
    /// Wrong use.
    user => User, user_plain;
    /// Wrong configuration or environment.
    configuration => Configuration, configuration_plain;
    /// The API server or a provider refused.
    refused => Refused, refused_plain;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_the_whole_chain_and_the_way_out() {
        let io = std::io::Error::other("no space left on device");
        let failure = configuration("could not write the store", io).hint("Free some space.");
        assert_eq!(
            failure.to_string(),
            "could not write the store: no space left on device\n  Free some space."
        );
        assert_eq!(failure.kind().exit_code(), 3);
    }
}
