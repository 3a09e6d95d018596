//! A proxy before moto. It adds what EC2 has and moto lacks (tokens that make requests idempotent,
//! states that take time to change) and makes calls go wrong: each has a number, and a test names
//! the one that is to fail.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::exchange::{Answer, Parameters, Request};
use super::fault::{Call, Fault, Outcome};
use super::memory::{Known, Memory};

/// How the proxy behaves when nothing goes wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// How many looks show an instance on its way from one state to the next.
    pub looks: u32,
    /// Whether tokens are ignored, as moto itself does.
    pub forgetful: bool,
}

/// A running proxy; it ends when this is dropped.
pub struct Proxy {
    /// Where it listens.
    pub port: u16,
    inner: Arc<Inner>,
    task: JoinHandle<()>,
}

struct Inner {
    upstream: u16,
    options: Options,
    state: Mutex<State>,
    /// Changes are made one at a time: two with one token must not both be the first.
    changing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    at: HashMap<u64, Fault>,
    next: Vec<(String, Fault)>,
    memory: Memory,
}

impl Proxy {
    /// Listens on loopback, before the server at this port.
    pub async fn start(upstream: u16, options: Options) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Inner {
            upstream,
            options,
            state: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
        });
        let serving = inner.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let inner = serving.clone();
                // A client that goes away is no failure of the proxy.
                tokio::spawn(async move { inner.serve(stream).await });
            }
        });
        Proxy { port, inner, task }
    }

    /// Its address, as a provider's endpoint.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Makes call number `index` go wrong.
    pub fn fault_at(&self, index: u64, fault: Fault) {
        self.inner.state().at.insert(index, fault);
    }

    /// Makes the next call of this action go wrong; several are used up in turn.
    pub fn fault_next(&self, action: &str, fault: Fault) {
        self.inner.state().next.push((action.to_owned(), fault));
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.inner.state().calls.clone()
    }

    /// How often this was carried out.
    pub fn done(&self, action: &str) -> usize {
        let state = self.inner.state();
        let done = |call: &&Call| call.action == action && call.outcome == Outcome::Done;
        state.calls.iter().filter(done).count()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Inner {
    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let Some(request) = Request::read(&mut stream).await? else {
            return Ok(());
        };
        let parameters = request.parameters();
        let action = parameters.get("Action").cloned().unwrap_or_default();
        let (index, fault) = self.begin(&action, request.key());
        let answer = match fault {
            Some(Fault::Before) => return self.end(index, Outcome::Refused),
            Some(Fault::Throttle) => {
                self.end(index, Outcome::Refused)?;
                Answer::error(503, "RequestLimitExceeded", "Request limit exceeded.")
            }
            Some(Fault::ServerError) => {
                self.end(index, Outcome::Refused)?;
                Answer::error(500, "InternalError", "An internal error has occurred")
            }
            Some(Fault::Stale) if action.starts_with("Describe") => {
                self.end(index, Outcome::Done)?;
                self.state().memory.stale(&action, &parameters)
            }
            Some(Fault::Repeat) => {
                let first = self.perform(index, &action, &parameters, &request).await?;
                let outcome = self.state().calls[index as usize].outcome;
                self.perform(index, &action, &parameters, &request).await?;
                self.end(index, outcome)?;
                first
            }
            Some(Fault::LostAnswer) => {
                self.perform(index, &action, &parameters, &request).await?;
                return Ok(());
            }
            Some(Fault::Delay(time)) => {
                let answer = self.perform(index, &action, &parameters, &request).await?;
                tokio::time::sleep(time).await;
                answer
            }
            Some(Fault::Stale) | None => {
                self.perform(index, &action, &parameters, &request).await?
            }
        };
        answer.write(&mut stream).await
    }

    fn begin(&self, action: &str, key: &str) -> (u64, Option<Fault>) {
        let mut state = self.state();
        let index = state.calls.len() as u64;
        let next = state.next.iter().position(|(of, _)| of == action);
        let next = next.map(|place| state.next.remove(place).1);
        let fault = state.at.remove(&index).or(next);
        state.calls.push(Call {
            index,
            action: action.to_owned(),
            key: key.to_owned(),
            fault,
            outcome: Outcome::Pending,
        });
        (index, fault)
    }

    fn end(&self, index: u64, outcome: Outcome) -> io::Result<()> {
        self.state().calls[index as usize].outcome = outcome;
        Ok(())
    }

    async fn perform(
        &self,
        index: u64,
        action: &str,
        parameters: &Parameters,
        request: &Request,
    ) -> io::Result<Answer> {
        if action.starts_with("Describe") {
            let answer = request.forward(self.upstream).await?;
            self.end(index, Outcome::Done)?;
            return Ok(match answer.is_good() {
                true => self.state().memory.looked(parameters, answer),
                false => answer,
            });
        }
        let _one_at_a_time = self.changing.lock().await;
        let known = match self.options.forgetful {
            true => Known::New,
            false => self.state().memory.judge(action, parameters),
        };
        match known {
            Known::Replay(answer) => {
                self.end(index, Outcome::Replayed)?;
                return Ok(answer);
            }
            Known::Refuse(answer) => {
                self.end(index, Outcome::Refused)?;
                return Ok(answer);
            }
            Known::New => {}
        }
        let answer = request.forward(self.upstream).await?;
        if answer.is_good() {
            let looks = self.options.looks;
            self.state()
                .memory
                .changed(action, parameters, &answer, looks);
            self.end(index, Outcome::Done)?;
        } else {
            self.end(index, Outcome::Refused)?;
        }
        Ok(answer)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
