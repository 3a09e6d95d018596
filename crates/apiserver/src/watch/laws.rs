//! The law of rooms, in any order of things: each watch is told every event, once and in order, whether it
//! sits with a crew or goes on by itself, and nothing is sent on a connection that is not free.

use std::sync::Arc;
use std::task::{Context, Waker};

use machinist_store::Revision;
use proptest::prelude::*;

use super::crew::{Crew, Seated};
use super::lane::{Channel, LARGEST, Lane, Piece};

/// How many watches there are.
const WATCHES: usize = 4;

/// What may happen next.
#[derive(Debug, Clone)]
enum Op {
    /// Something is written, of interest or not.
    Write(bool),
    /// A watch rises, if it sits, and tells what there is: to say something of its own, or to sit down.
    Pull(usize),
    /// A watch sits down, with what it has told so far.
    Sit(usize),
    /// A watch looks whether it lost its seat.
    Look(usize),
    /// What was under way on a connection has left.
    Flush(usize),
    /// A connection will not take all of what is sent next.
    Stick(usize),
    /// The crew takes up some events, as one piece, perhaps a large one.
    Take(usize, bool),
    /// The crew tells at some places.
    Tell(usize),
    /// The crew ends, and the next to sit down gets another.
    End,
}

fn op() -> impl Strategy<Value = Op> {
    let watch = 0..WATCHES;
    prop_oneof![
        4 => any::<bool>().prop_map(Op::Write),
        2 => watch.clone().prop_map(Op::Pull),
        4 => watch.clone().prop_map(Op::Sit),
        2 => watch.clone().prop_map(Op::Look),
        4 => watch.clone().prop_map(Op::Flush),
        1 => watch.prop_map(Op::Stick),
        4 => (1..4_usize, prop::bool::weighted(0.2)).prop_map(|(count, large)| Op::Take(count, large)),
        6 => (1..3_usize).prop_map(Op::Tell),
        1 => Just(Op::End),
    ]
}

/// A connection that writes down what is sent on it.
struct Noted {
    free: bool,
    sticks: bool,
    /// Whether some of what was sent waits for the task of the connection.
    stuck: bool,
    sent: Vec<u64>,
}

impl Channel for Noted {
    fn is_free(&self) -> bool {
        self.free
    }

    fn send(&mut self, chunk: &[u8]) -> bool {
        assert!(self.free, "sent on a connection that is not free");
        assert!(chunk.len() <= LARGEST, "too large");
        self.sent.extend(chunk.iter().map(|byte| u64::from(*byte)));
        self.stuck = std::mem::take(&mut self.sticks);
        self.free = !self.stuck;
        self.free
    }
}

/// A watch: what its own task knows.
struct Watcher {
    lane: Arc<Lane<Noted>>,
    seated: Option<Seated<Noted>>,
    position: u64,
}

/// A crew and how far it is.
struct Telling {
    crew: Arc<Crew<Noted>>,
    scanned: u64,
    /// A piece, at how many places it is to be told, and at how many it was.
    piece: Option<(Piece, usize, usize)>,
}

struct World {
    newest: u64,
    of_interest: Vec<u64>,
    watchers: Vec<Watcher>,
    telling: Telling,
}

impl World {
    fn new() -> Self {
        let watcher = || Watcher {
            lane: Arc::new(Lane::new(Noted {
                free: false,
                sticks: false,
                stuck: false,
                sent: Vec::new(),
            })),
            seated: None,
            position: 0,
        };
        Self {
            newest: 0,
            of_interest: Vec::new(),
            watchers: (0..WATCHES).map(|_| watcher()).collect(),
            telling: Telling::after(0),
        }
    }

    /// A watch rises, if it sits, and tells by itself what there is.
    fn pull(&mut self, which: usize) {
        let watcher = &mut self.watchers[which];
        if let Some(seated) = watcher.seated.take() {
            watcher.position = watcher.position.max(seated.rise().0);
        }
        let channel = &mut watcher.lane.lock().channel;
        channel.stuck = false;
        for event in self.of_interest.iter().filter(|at| **at > watcher.position) {
            channel.sent.push(*event);
            channel.free = false;
        }
        watcher.position = self.newest;
    }

    fn happen(&mut self, op: &Op) {
        match *op {
            Op::Write(of_interest) if self.newest < 250 => {
                self.newest += 1;
                self.of_interest.extend(of_interest.then_some(self.newest));
            }
            Op::Write(_) => {}
            Op::Sit(which) => {
                let watcher = &mut self.watchers[which];
                if watcher.seated.is_none() {
                    let seen = Revision(watcher.position);
                    watcher.seated = self.telling.crew.admit(&watcher.lane, seen);
                }
            }
            Op::Look(which) => {
                if self.watchers[which].has_lost() {
                    self.pull(which);
                }
            }
            Op::Pull(which) => self.pull(which),
            Op::Flush(which) => self.watchers[which].lane.lock().channel.free = true,
            Op::Stick(which) => self.watchers[which].lane.lock().channel.sticks = true,
            Op::Take(count, large) => {
                self.telling
                    .take(&self.of_interest, self.newest, count, large)
            }
            Op::Tell(places) => self.telling.tell(places),
            Op::End => {
                self.telling.crew.end();
                let mut seated = self.watchers.iter().filter(|one| one.seated.is_some());
                assert!(seated.all(Watcher::has_lost), "one waits for nobody");
                self.telling = Telling::after(self.newest);
            }
        }
    }

    fn check(&self) {
        for watcher in &self.watchers {
            let stuck = watcher.lane.lock().channel.stuck;
            assert!(!stuck || watcher.has_lost(), "nobody sends the rest");
            let sent = &watcher.lane.lock().channel.sent;
            assert!(
                self.of_interest.starts_with(sent),
                "{sent:?} of {:?}",
                self.of_interest
            );
        }
    }
}

impl Watcher {
    fn has_lost(&self) -> bool {
        let Some(seated) = &self.seated else {
            return false;
        };
        let lost = std::pin::pin!(seated.unseated());
        let mut context = Context::from_waker(Waker::noop());
        lost.poll(&mut context).is_ready()
    }
}

impl Telling {
    fn after(revision: u64) -> Self {
        Self {
            crew: Arc::new(Crew::new(Revision(revision))),
            scanned: revision,
            piece: None,
        }
    }

    fn take(&mut self, of_interest: &[u64], newest: u64, count: usize, large: bool) {
        if self.piece.is_some() {
            return;
        }
        let new = of_interest.iter().filter(|at| **at > self.scanned);
        let taken: Vec<u64> = new.take(count).copied().collect();
        let (Some(first), Some(last)) = (taken.first(), taken.last()) else {
            self.scanned = newest;
            self.crew.finish(Revision(newest));
            return;
        };
        self.scanned = *last;
        let mut chunk: Vec<u8> = taken.iter().map(|at| u8::try_from(*at).unwrap()).collect();
        if large {
            chunk.resize(LARGEST + 1, 0);
        }
        let piece = Piece {
            first: Revision(*first),
            last: Revision(*last),
            chunk,
        };
        let count = self.crew.begin(&piece);
        self.piece = Some((piece, count, 0));
    }

    fn tell(&mut self, places: usize) {
        let Some((piece, count, told)) = &mut self.piece else {
            return;
        };
        let end = (*told + places).min(*count);
        self.crew.tell(piece, *told, end);
        *told = end;
        if told == count {
            self.crew.finish(piece.last);
            self.piece = None;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn each_watch_is_told_every_event_once(ops in prop::collection::vec(op(), 1..120)) {
        let mut world = World::new();
        for op in &ops {
            world.happen(op);
            world.check();
        }
        for which in 0..WATCHES {
            world.pull(which);
            let sent = world.watchers[which].lane.lock().channel.sent.clone();
            prop_assert_eq!(&sent, &world.of_interest);
        }
    }
}
