//! How ranks find each other: all go to rank 0, which tells each where its neighbour waits.

use super::wire::{Frame, Kind};
use super::world::World;
use crate::TrainError;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Ours, and this version of it: ranks of different versions refuse each other.
const GREETING: &str = concat!("locdiff ", env!("CARGO_PKG_VERSION"));
/// A stranger that says nothing does not keep the others waiting for longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the ranks wait for each other, in seconds, unless this variable says otherwise.
const TIME_VARIABLE: &str = "LOCDIFF_MEETING_SECONDS";
const USUAL_SECONDS: u64 = 300;

/// A rank's connections.
pub(super) struct Links {
    /// Rank 0's to all others, the others' to rank 0.
    pub(super) control: Vec<(usize, TcpStream)>,
    /// To the next rank of the ring.
    pub(super) next: TcpStream,
    /// From the rank before.
    pub(super) before: TcpStream,
}

/// Waits for all ranks and connects this one to its neighbours.
pub(super) fn meet(world: &World) -> Result<Links, TrainError> {
    let seconds = std::env::var(TIME_VARIABLE).ok().and_then(|text| text.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(USUAL_SECONDS));
    if world.rank == 0 { receive_all(world, until) } else { go(world, until) }
}

fn failed(world: &World, what: &str, error: &Error) -> TrainError {
    TrainError::World { reason: format!("{what} {}:{}: {error}", world.address, world.port) }
}

fn other(error: &Error, rank: usize) -> TrainError {
    TrainError::Rank { rank, reason: format!("cannot be reached ({error})") }
}

/// `Hello`: greeting, number of ranks, the port where this rank waits for the one before it.
fn hello(world: &World, port: u16) -> Frame {
    Frame::new(Kind::Hello, world.rank, format!("{GREETING}\n{}\n{port}", world.size).into_bytes())
}

/// Reads the next frame before a moment.
fn read_before(stream: &TcpStream, until: Instant) -> std::io::Result<Frame> {
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    stream.set_read_timeout(Some(left))?;
    let frame = Frame::read(&mut { stream });
    stream.set_read_timeout(None)?;
    frame
}

/// The next connection before a moment.
fn accept_before(listener: &TcpListener, until: Instant) -> std::io::Result<(TcpStream, SocketAddr)> {
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Ok((stream, from)) => {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                return Ok((stream, from));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if Instant::now() >= until {
                    return Err(Error::new(ErrorKind::TimedOut, "nobody came in time"));
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Connects before a moment; who waits there may not be up yet.
fn connect_before(address: &str, port: u16, until: Instant) -> std::io::Result<TcpStream> {
    loop {
        let attempt = (address, port).to_socket_addrs().and_then(|addresses| {
            let mut last = Error::new(ErrorKind::NotFound, "the name has no address");
            for address in addresses {
                match TcpStream::connect_timeout(&address, PATIENCE) {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                }
            }
            Err(last)
        });
        match attempt {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) if Instant::now() >= until => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Who waits where: an address as rank 0 sees it; a rank on rank 0's own machine is where rank 0 is.
type Place = (Option<IpAddr>, u16);

/// A listener for the rank before: on this machine alone where all ranks are on it.
fn own_listener(world: &World) -> std::io::Result<TcpListener> {
    TcpListener::bind((bind_address(world), 0))
}

fn bind_address(world: &World) -> IpAddr {
    let is_local = matches!(world.address.as_str(), "localhost" | "127.0.0.1" | "::1");
    IpAddr::V4(if is_local { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED })
}

/// Rank 0.
fn receive_all(world: &World, until: Instant) -> Result<Links, TrainError> {
    let door = TcpListener::bind((bind_address(world), world.port))
        .map_err(|error| failed(world, "cannot wait for the other ranks on", &error))?;
    let own = own_listener(world).map_err(|error| failed(world, "cannot listen beside", &error))?;
    let own_port = own.local_addr().map_err(|error| failed(world, "cannot listen beside", &error))?.port();
    let mut places: Vec<Option<Place>> = vec![None; world.size];
    places[0] = Some((None, own_port));
    let mut came: Vec<Option<TcpStream>> = (0..world.size).map(|_| None).collect();
    while let Some(missing) = (1..world.size).find(|rank| places[*rank].is_none()) {
        let (stream, from) = accept_before(&door, until).map_err(|error| TrainError::Rank {
            rank: missing,
            reason: format!("did not come to {}:{} ({error})", world.address, world.port),
        })?;
        // A stranger is sent away without a word; a rank that cannot take part is told why.
        let Ok(frame) = read_before(&stream, until.min(Instant::now() + PATIENCE)) else { continue };
        let text = String::from_utf8_lossy(&frame.bytes).into_owned();
        let words: Vec<&str> = text.lines().collect();
        let ([greeting, size, port], Kind::Hello) = (&words[..], frame.kind) else { continue };
        let (rank, Ok(port)) = (frame.number as usize, port.parse()) else { continue };
        let problem = if *greeting != GREETING {
            Some(format!("runs {greeting}, rank 0 runs {GREETING}: start the same program everywhere"))
        } else if *size != world.size.to_string() || rank == 0 || rank >= world.size {
            Some(format!("is one of {size}, rank 0 one of {}", world.size))
        } else if places[rank].is_some() {
            Some("came twice: give every process a rank of its own".to_owned())
        } else {
            None
        };
        if let Some(reason) = problem {
            let _ = Frame::new(Kind::Refusal, rank, reason.clone().into_bytes()).write(&mut { &stream });
            return Err(TrainError::Rank { rank, reason });
        }
        let address = Some(from.ip()).filter(|ip| !ip.is_loopback());
        places[rank] = Some((address, port));
        came[rank] = Some(stream);
    }
    let mut control = Vec::new();
    for (rank, stream) in came.into_iter().enumerate().skip(1) {
        let (address, port) = places[(rank + 1) % world.size].unwrap_or((None, own_port));
        let text = format!("{}\n{port}", address.map_or(String::new(), |address| address.to_string()));
        if let Some(stream) = stream {
            let welcome = Frame::new(Kind::Welcome, rank, text.into_bytes());
            welcome.write(&mut { &stream }).map_err(|error| other(&error, rank))?;
            control.push((rank, stream));
        }
    }
    let (address, port) = places[1 % world.size].unwrap_or((None, own_port));
    neighbours(world, control, &own, address, port, until)
}

/// All others.
fn go(world: &World, until: Instant) -> Result<Links, TrainError> {
    let stream = connect_before(&world.address, world.port, until)
        .map_err(|error| failed(world, "rank 0 does not answer at", &error))?;
    let own = own_listener(world).map_err(|error| failed(world, "cannot listen beside", &error))?;
    let port = own.local_addr().map_err(|error| failed(world, "cannot listen beside", &error))?.port();
    hello(world, port).write(&mut { &stream }).map_err(|error| other(&error, 0))?;
    let answer = read_before(&stream, until).map_err(|error| other(&error, 0))?;
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    if answer.kind == Kind::Refusal {
        return Err(TrainError::Rank { rank: world.rank, reason: text });
    }
    let place = text.split_once('\n').and_then(|(address, port)| {
        let address = if address.is_empty() { None } else { Some(address.parse().ok()?) };
        Some((address, port.parse().ok()?))
    });
    let (Some((address, port)), Kind::Welcome) = (place, answer.kind) else {
        return Err(failed(world, "another program answers at", &Error::from(ErrorKind::InvalidData)));
    };
    neighbours(world, vec![(0, stream)], &own, address, port, until)
}

/// Connects to the next rank and waits for the one before.
fn neighbours(
    world: &World,
    control: Vec<(usize, TcpStream)>,
    own: &TcpListener,
    address: Option<IpAddr>,
    port: u16,
    until: Instant,
) -> Result<Links, TrainError> {
    let (next_rank, rank_before) =
        ((world.rank + 1) % world.size, (world.rank + world.size - 1) % world.size);
    // A rank on rank 0's machine is reached as rank 0 is.
    let host = address.map_or_else(|| world.address.clone(), |address| address.to_string());
    let next = connect_before(&host, port, until).map_err(|error| other(&error, next_rank))?;
    hello(world, 0).write(&mut { &next }).map_err(|error| other(&error, next_rank))?;
    loop {
        let (before, _) = accept_before(own, until).map_err(|error| other(&error, rank_before))?;
        if let Ok(frame) = read_before(&before, until.min(Instant::now() + PATIENCE))
            && frame.kind == Kind::Hello
            && frame.number as usize == rank_before
            && frame.bytes.starts_with(GREETING.as_bytes())
        {
            return Ok(Links { control, next, before });
        }
    }
}
