//! Tries the addresses of a server as RFC 8305 ("Happy Eyeballs") says: one after the other, a
//! little apart. An attempt does not wait until the earlier ones have failed. So an address that
//! does not answer costs a quarter of a second.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// Time between two attempts (RFC 8305, section 5). If an attempt fails, the next one starts at
/// once.
const STAGGER: Duration = Duration::from_millis(250);

/// The result of the first attempt that succeeds. The other attempts are cancelled.
///
/// # Errors
/// How each attempt failed, in the order of `addresses`.
pub(super) async fn first<T, E, F>(
    addresses: &[SocketAddr],
    attempt: impl Fn(SocketAddr) -> F,
) -> Result<(SocketAddr, T), Vec<(SocketAddr, E)>>
where
    T: Send + 'static,
    E: Send + 'static,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    let mut waiting = addresses.iter().copied().enumerate();
    let mut attempts = JoinSet::new();
    let mut failed: Vec<(usize, SocketAddr, E)> = Vec::new();
    let mut next = Instant::now();
    loop {
        let is_last = waiting.len() == 0;
        tokio::select! {
            biased;
            Some(ended) = attempts.join_next() => match ended {
                Ok((_, address, Ok(won))) => return Ok((address, won)),
                Ok((place, address, Err(error))) => {
                    failed.push((place, address, error));
                    next = Instant::now();
                }
                Err(crash) if crash.is_panic() => std::panic::resume_unwind(crash.into_panic()),
                Err(_) => {}
            },
            () = sleep_until(next), if !is_last => {
                if let Some((place, address)) = waiting.next() {
                    let attempt = attempt(address);
                    attempts.spawn(async move { (place, address, attempt.await) });
                }
                next = Instant::now() + STAGGER;
            }
            else => {
                failed.sort_by_key(|(place, ..)| *place);
                return Err(failed.into_iter().map(|(_, address, error)| (address, error)).collect());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex};

    use tokio::time::sleep;

    use super::*;

    /// The outcome of an attempt, after this many milliseconds.
    type Fate = (u64, Result<(), &'static str>);

    /// Runs a race of addresses with these outcomes. Returns the index of the winner or the
    /// failures, the milliseconds that the race took, and the milliseconds at which each attempt
    /// began.
    async fn race(fates: &[Fate]) -> (Result<usize, Vec<&'static str>>, u64, Vec<u64>) {
        let address = |place: usize| SocketAddr::from(([192, 0, 2, 1], place as u16));
        let addresses: Vec<_> = (0..fates.len()).map(address).collect();
        let fates: HashMap<_, Fate> =
            addresses.iter().copied().zip(fates.iter().copied()).collect();
        let begin = Instant::now();
        let begun = Arc::new(Mutex::new(Vec::new()));
        let attempt = |address| {
            let (fate, begun) = (fates[&address], Arc::clone(&begun));
            async move {
                begun.lock().unwrap().push(begin.elapsed().as_millis() as u64);
                sleep(Duration::from_millis(fate.0)).await;
                fate.1
            }
        };
        let result = first(&addresses, attempt).await;
        let result = result.map(|(address, ())| usize::from(address.port()));
        let result = result.map_err(|failed| failed.into_iter().map(|(_, why)| why).collect());
        let begun = begun.lock().unwrap().clone();
        (result, begin.elapsed().as_millis() as u64, begun)
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_is_silent_costs_a_quarter_of_a_second() {
        assert_eq!(race(&[(20, Ok(()))]).await, (Ok(0), 20, vec![0]));
        let silent = (2000, Err("silent"));
        let (won, took, begun) = race(&[silent, (20, Ok(())), (20, Ok(()))]).await;
        assert_eq!((won, begun), (Ok(1), vec![0, 250]));
        assert!((270..280).contains(&took), "{took}");
        // A slow answer still wins if no other answer comes.
        let (won, took, _) = race(&[(1000, Ok(())), (10, Err("refused"))]).await;
        assert!(won == Ok(0) && (1000..1010).contains(&took), "{took}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_starts_the_next_attempt_at_once_and_all_are_told_in_order() {
        let (won, took, begun) = race(&[(10, Err("refused")), (20, Ok(()))]).await;
        assert!(won == Ok(1) && took < 40 && begun[1] < 20, "{took} {begun:?}");
        let (won, ..) = race(&[(2000, Err("silent")), (10, Err("refused")), (5, Err("no"))]).await;
        assert_eq!(won, Err(vec!["silent", "refused", "no"]));
        assert_eq!(race(&[]).await.0, Err(Vec::new()));
    }
}
