use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::{Counter, counter};

use super::catalogue;

/// Metrics of datagrams that QUIC never sees, because the kernel or the socket has dropped them. If
/// the kernel does not report its number at the start, there is no series for it.
pub(super) struct SocketMetrics {
    /// The inodes by which the kernel's tables name the server's UDP sockets.
    inodes: Vec<u64>,
    drops: Option<Counter>,
    /// Datagrams of proxies that the sockets have dropped, and their metric.
    proxy_drops: (Arc<AtomicU64>, Counter),
}

impl SocketMetrics {
    pub(super) fn register(inodes: Vec<u64>, proxy_drops: &Arc<AtomicU64>) -> Self {
        let proxy_drops = (Arc::clone(proxy_drops), counter!(catalogue::PROXY_DATAGRAMS_DROPPED));
        let mut metrics = Self { inodes, drops: None, proxy_drops };
        metrics.drops = metrics.drops().map(|_| counter!(catalogue::UDP_RECEIVE_DROPS));
        metrics
    }

    /// Brings the metrics up to date. If the kernel does not report its number now, the metric of
    /// it stays unchanged.
    pub(super) fn observe(&self) {
        let (dropped, counter) = &self.proxy_drops;
        counter.absolute(dropped.load(Ordering::Relaxed));
        if let (Some(counter), Some(drops)) = (&self.drops, self.drops()) {
            counter.absolute(drops);
        }
    }

    /// Number of datagrams that the kernel has dropped so far; `None` if it does not report them.
    pub(super) fn drops(&self) -> Option<u64> {
        let told: Vec<u64> = self.inodes.iter().filter_map(|&inode| drops(inode)).collect();
        (!told.is_empty()).then(|| told.iter().sum())
    }
}

/// The inode of a socket, by which the kernel's tables name it.
#[cfg(target_os = "linux")]
pub(crate) fn inode(socket: &std::net::UdpSocket) -> Option<u64> {
    use std::os::fd::AsRawFd;

    let link = std::fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).ok()?;
    // "socket:[NUMBER]"
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn inode(_: &std::net::UdpSocket) -> Option<u64> {
    None
}

/// Datagrams that the kernel dropped because this socket's buffer was full.
#[cfg(target_os = "linux")]
fn drops(inode: u64) -> Option<u64> {
    ["/proc/self/net/udp", "/proc/self/net/udp6"].into_iter().find_map(|path| {
        let table = std::fs::read_to_string(path).ok()?;
        // proc_net_udp(5): the tenth word is the inode. The thirteenth word is the last one, and
        // counts the drops.
        table.lines().skip(1).find_map(|line| {
            let mut words = line.split_ascii_whitespace().skip(9);
            let found = words.next()?.parse() == Ok(inode);
            found.then(|| words.nth(2)?.parse().ok())?
        })
    })
}

#[cfg(not(target_os = "linux"))]
fn drops(_: u64) -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    use super::*;

    const HANG: Duration = Duration::from_secs(10);

    #[test]
    fn losses_of_a_full_socket_are_counted() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let socket = UdpSocket::bind(address).unwrap();
            let inode = inode(&socket).unwrap();
            assert_eq!(drops(inode), Some(0));
            let sender = UdpSocket::bind(address).unwrap();
            let sent = 4000;
            for _ in 0..sent {
                sender.send_to(&[0; 1000], socket.local_addr().unwrap()).unwrap();
            }
            socket.set_nonblocking(true).unwrap();
            // The system may deliver the last ones a little later.
            let (begin, mut received) = (Instant::now(), 0);
            while drops(inode) != Some(sent - received) && begin.elapsed() < HANG {
                received += std::iter::from_fn(|| socket.recv(&mut [0; 1000]).ok()).count() as u64;
            }
            assert!(received > 0 && received < sent, "{received} of {sent}");
            assert_eq!(drops(inode), Some(sent - received));
        }
        assert_eq!(drops(u64::MAX), None);
    }
}
