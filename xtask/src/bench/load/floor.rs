//! What the kernel alone takes for a fan-out: as many bytes to as many connections, by threads that
//! do nothing else, and timed as those to watchers are. No server that gives each watcher a connection can be
//! faster than this, whatever it does itself.

use std::{
    io::{self, Write as _},
    net::{TcpListener, TcpStream},
    sync::Barrier,
    thread,
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result};

use super::arrival;
use crate::bench::figure::median;

/// Messages to each connection; the first wakes what the others find awake.
const MESSAGES: usize = 6;
/// A message that takes longer is lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// Milliseconds from the first send to the last arrival, with as many senders as are fastest.
pub(super) fn fan_out(connections: usize, size: usize) -> Result<f64> {
    let (near, far) = connect(connections).context("cannot make connections on loopback")?;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let mut least = f64::INFINITY;
    for senders in 1..=processors {
        let took = send_all(&near, &far, senders, size);
        least = least.min(took.context("a message on loopback was lost")?);
    }
    Ok(least)
}

/// The same with so many senders.
fn send_all(near: &[TcpStream], far: &[TcpStream], senders: usize, size: usize) -> io::Result<f64> {
    let share = near.len().div_ceil(senders);
    // All begin together, and nothing is read before all have sent.
    let turns = Barrier::new(near.chunks(share).len() + 1);
    let message = vec![0_u8; size];
    let times: Vec<io::Result<f64>> = thread::scope(|scope| {
        for of_one in near.chunks(share) {
            let (turns, message) = (&turns, &message);
            scope.spawn(move || {
                for _ in 0..MESSAGES {
                    turns.wait();
                    for mut connection in of_one {
                        // The reader sees that it is not there.
                        let _ = connection.write_all(message);
                    }
                    turns.wait();
                }
            });
        }
        let mut buffer = vec![0; size];
        // Also after a failure all rounds are begun: the senders wait for each.
        let times = (0..MESSAGES).map(|_| {
            let began = SystemTime::now();
            turns.wait();
            turns.wait();
            let mut last = began;
            for connection in far {
                last = last.max(message_arrival(connection, &mut buffer)?);
            }
            arrival::between(began, last)
        });
        times.collect()
    });
    let times: Vec<f64> = times.into_iter().collect::<io::Result<_>>()?;
    Ok(median(&times[1..]))
}

/// Reads one message; says when it was here as a whole.
fn message_arrival(connection: &TcpStream, buffer: &mut [u8]) -> io::Result<SystemTime> {
    let mut left = buffer.len();
    loop {
        let (size, arrived) = arrival::receive(connection, &mut buffer[..left])?;
        if size == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        left -= size;
        if left == 0 {
            return Ok(arrived);
        }
    }
}

/// The two ends of so many connections.
fn connect(count: usize) -> io::Result<(Vec<TcpStream>, Vec<TcpStream>)> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let mut ends = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        let far = TcpStream::connect(address)?;
        far.set_read_timeout(Some(PATIENCE))?;
        arrival::note(&far)?;
        ends.1.push(far);
        let near = listener.accept()?.0;
        near.set_nodelay(true)?;
        ends.0.push(near);
    }
    Ok(ends)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_connection_gets_every_message() {
        let took = super::fan_out(7, 3000).expect("a fan-out");
        assert!(took > 0.0);
    }
}
