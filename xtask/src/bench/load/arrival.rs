//! Receiving with the time at which the kernel had the bytes.
//!
//! Who measures a delivery by reading takes a processor from the server at just the moment that
//! counts. The kernel writes down when bytes reach the socket of their receiver; so nobody needs to
//! be awake then, and they are read when all is over.

use std::{
    io::{self, IoSliceMut, Write as _},
    net::{TcpListener, TcpStream},
    os::fd::AsRawFd as _,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use nix::{
    cmsg_space,
    sys::{
        socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt::ReceiveTimestampns},
        time::TimeSpec,
    },
};

/// How long receivers sleep, which is long after any delivery. One that comes later still is
/// waited for.
pub(super) const SLEEP: Duration = Duration::from_millis(100);
/// A kernel that has not begun after this time will not.
const PATIENCE: Duration = Duration::from_secs(10);

/// Has the kernel note from now on when bytes arrive.
pub(super) fn note(connection: &TcpStream) -> io::Result<()> {
    static BEGUN: Mutex<Option<[TcpStream; 2]>> = Mutex::new(None);
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    if begun.is_none() {
        *begun = Some(begin()?);
    }
    ask(connection)
}

fn ask(connection: &TcpStream) -> io::Result<()> {
    Ok(setsockopt(connection, ReceiveTimestampns, &true)?)
}

/// The kernel begins a little after it is first asked, and ends when nobody asks any more. So the
/// ends of a connection are kept on which it was seen to have begun.
fn begin() -> io::Result<[TcpStream; 2]> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut near = TcpStream::connect(listener.local_addr()?)?;
    let far = listener.accept()?.0;
    ask(&far)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        near.write_all(b"?")?;
        match receive(&far, &mut [0; 1]) {
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => {}
            Ok(_) => return Ok([near, far]),
        }
    }
}

/// Reads once; says how many bytes, and when the last of them arrived. They are none at the end.
pub(super) fn receive(
    connection: &TcpStream,
    buffer: &mut [u8],
) -> io::Result<(usize, SystemTime)> {
    let mut noted = cmsg_space!(TimeSpec);
    let mut pieces = [IoSliceMut::new(buffer)];
    let received = recvmsg::<()>(
        connection.as_raw_fd(),
        &mut pieces,
        Some(&mut noted),
        MsgFlags::empty(),
    )?;
    let size = received.bytes;
    let stamp = received.cmsgs()?.find_map(|message| match message {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
        _ => None,
    });
    match stamp {
        Some(stamp) => Ok((size, SystemTime::UNIX_EPOCH + stamp)),
        None if size == 0 => Ok((0, SystemTime::now())),
        None => Err(io::Error::other(
            "the kernel did not say when bytes arrived",
        )),
    }
}

/// Milliseconds from one moment to a later one, by the clock that the kernel notes.
pub(super) fn between(began: SystemTime, ended: SystemTime) -> io::Result<f64> {
    let passed = ended.duration_since(began);
    let passed = passed.map_err(|_| io::Error::other("the clock was set back meanwhile"))?;
    Ok(passed.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_from_their_arrival_and_not_from_their_reading() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
        let mut near =
            TcpStream::connect(listener.local_addr().expect("an address")).expect("near");
        let far = listener.accept().expect("far").0;
        note(&far).expect("a noted connection");
        let before = SystemTime::now();
        near.write_all(b"event").expect("a write");
        let sent = SystemTime::now();
        let (size, stamp) = receive(&far, &mut [0; 64]).expect("bytes");
        assert_eq!(size, 5);
        assert!(
            before <= stamp && stamp <= sent,
            "arrived after it was sent"
        );
        assert!(between(sent, before).is_err(), "time went backwards");
    }
}
