//! The budget of all bytes that leave the machine and do not belong to the match itself: pages,
//! maps, recordings, rewinds and answers to queries, over TCP and over QUIC.
//!
//! Each byte is charged to the address that it goes to, and to one shared budget of all addresses,
//! which leaves room on the line for the match. The used part of an address's budget is remembered
//! when its connections end, so a new connection does not renew it. Only one piece of each address
//! waits for the shared budget at a time. So addresses take turns, however many connections each of
//! them has.

pub(crate) mod options;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics::Counter;
use tokio::sync::MutexGuard as Turn;
use tokio::time::{Instant, sleep};

use super::admission::Shares;
use crate::common::address_key::AddressKey;
use crate::common::labelled;
use crate::common::token_bucket::{Rate, TokenBucket};
use options::OutgoingOptions;

/// All addresses together may be sent the budget of this many seconds at once. These bytes delay a
/// snapshot by about 20 ms on a line that carries three times the budget. A client can miss
/// snapshots for longer than that.
const BURST_OF_ALL: f64 = 1.0 / 16.0;

/// After a pause, one address may be sent the budget of this many seconds at once. That is enough
/// for a household: the page, and a map for each of several players.
const BURST_OF_ADDRESS: f64 = 32.0;

/// Requests of one address for pages. Opening a page takes some 90 requests, so a household of four
/// can open four pages at once. An open page sends several requests a second.
const REQUESTS: Rate = Rate { per_second: 40.0, burst: 400.0 };

/// Addresses that are remembered, some 250 bytes each.
const REMEMBERED: usize = 8192;

labelled! {
    /// The purpose for which bytes leave the machine.
    pub(crate) enum Purpose {
        /// Pages and their files, over TCP.
        Pages = "pages",
        /// Maps and data of games, over QUIC.
        Downloads = "downloads",
        /// Answers to server browsers.
        Queries = "queries",
    }
}

/// The budgets of a server.
pub(crate) struct Outgoing {
    shares: Shares,
    /// Counts all bytes that are charged, by their purpose.
    sent: [Counter; Purpose::ALL.len()],
    all: Rate,
    each: Rate,
    table: Mutex<Table>,
}

struct Table {
    all: TokenBucket,
    accounts: HashMap<AddressKey, Arc<Account>>,
}

/// The used parts of one address's budgets.
struct Account {
    bytes: Meter,
    requests: Meter,
}

/// A budget whose users take turns in the order in which they came: only one at a time waits for
/// it.
struct Meter {
    bucket: Mutex<TokenBucket>,
    turn: tokio::sync::Mutex<()>,
}

/// The budgets to which the connections of an address are charged.
#[derive(Clone)]
pub(crate) struct Payer {
    outgoing: Arc<Outgoing>,
    account: Arc<Account>,
    /// Whether only the shared budget applies to the address.
    is_exempt: bool,
    purpose: Purpose,
}

impl Outgoing {
    /// Unused budgets. `shares` tells which addresses have no budget of their own. `sent` counts
    /// all bytes, by their purpose.
    pub(crate) fn new(
        options: &OutgoingOptions,
        shares: Shares,
        sent: [Counter; Purpose::ALL.len()],
    ) -> Arc<Self> {
        let rate = |bytes: u32, seconds: f64| Rate {
            per_second: bytes.into(),
            burst: f64::from(bytes) * seconds,
        };
        let all = rate(options.outgoing_budget, BURST_OF_ALL);
        let each = rate(options.address_outgoing_budget, BURST_OF_ADDRESS);
        let table = Table { all: TokenBucket::full(now()), accounts: HashMap::new() };
        Arc::new(Self { shares, sent, all, each, table: Mutex::new(table) })
    }

    /// Whether this address has no budget of its own, because the operator exempts it.
    pub(crate) fn is_exempt(&self, address: IpAddr) -> bool {
        self.shares.is_exempt(address)
    }

    /// The budgets of an address, for bytes of this purpose.
    pub(crate) fn payer(self: &Arc<Self>, address: IpAddr, purpose: Purpose) -> Payer {
        let is_exempt = self.is_exempt(address);
        let account = self.lock().account(self.each, address.into());
        Payer { outgoing: Arc::clone(self), account, is_exempt, purpose }
    }

    /// Charges bytes to the shared budget, and counts them. Returns the wait until they may be
    /// sent.
    fn charge(&self, bytes: usize, purpose: Purpose) -> Duration {
        self.sent[purpose as usize].increment(bytes as u64);
        let bytes = bytes as f64;
        let mut table = self.lock();
        let wait = table.all.wait(self.all, bytes, now());
        table.all.charge(self.all, bytes, now());
        wait
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn account(&mut self, each: Rate, address: AddressKey) -> Arc<Account> {
        if self.accounts.len() >= REMEMBERED && !self.accounts.contains_key(&address) {
            self.forget(each);
        }
        Arc::clone(self.accounts.entry(address).or_insert_with(|| Arc::new(Account::new())))
    }

    /// Forgets addresses that have no connection and have used up nothing. If that does not make
    /// room, forgets one that has no connection.
    fn forget(&mut self, each: Rate) {
        self.accounts.retain(|_, account| account.is_in_use() || !account.is_full(each));
        if self.accounts.len() >= REMEMBERED {
            let idle = self.accounts.iter().find(|(_, account)| !account.is_in_use());
            if let Some(address) = idle.map(|(address, _)| *address) {
                self.accounts.remove(&address);
            }
        }
    }
}

impl Account {
    fn new() -> Self {
        Self { bytes: Meter::new(), requests: Meter::new() }
    }

    /// Whether a connection of the address is open. The table holds one reference itself.
    fn is_in_use(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1
    }

    fn is_full(&self, each: Rate) -> bool {
        self.bytes.lock().is_full(each, now()) && self.requests.lock().is_full(REQUESTS, now())
    }
}

impl Meter {
    fn new() -> Self {
        Self { bucket: Mutex::new(TokenBucket::full(now())), turn: tokio::sync::Mutex::default() }
    }

    /// Waits until `amount` may be used, and uses it. The next user waits for the returned turn.
    async fn spend(&self, rate: Rate, amount: f64) -> Turn<'_, ()> {
        let turn = self.turn.lock().await;
        let wait = {
            let mut bucket = self.lock();
            let wait = bucket.wait(rate, amount, now());
            bucket.charge(rate, amount, now());
            wait
        };
        pause(wait).await;
        turn
    }

    fn lock(&self) -> MutexGuard<'_, TokenBucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Payer {
    /// Waits until `bytes` may be sent, and charges them.
    pub(crate) async fn pay(&self, bytes: usize) {
        let meter = &self.account.bytes;
        let _turn = match self.is_exempt {
            true => meter.turn.lock().await,
            false => meter.spend(self.outgoing.each, bytes as f64).await,
        };
        pause(self.outgoing.charge(bytes, self.purpose)).await;
    }

    /// Charges `bytes` of a datagram, which cannot wait. Returns false, and charges nothing, if the
    /// address has used up its own budget. The shared budget is charged but does not hold the
    /// datagram back. Otherwise downloads would silence all short answers.
    pub(crate) fn pay_at_once(&self, bytes: usize) -> bool {
        let each = self.outgoing.each;
        let may = self.is_exempt || self.account.bytes.lock().take(each, bytes as f64, now());
        if may {
            self.outgoing.charge(bytes, self.purpose);
        }
        may
    }

    /// Charges `bytes` of an answer that must not wait, such as the answer to an operator's probe.
    pub(crate) fn note(&self, bytes: usize) {
        self.outgoing.charge(bytes, self.purpose);
    }

    /// Whether the address has no budget of its own.
    pub(crate) fn is_exempt(&self) -> bool {
        self.is_exempt
    }

    /// Waits until the address may send another request, and charges that request.
    pub(crate) async fn ask(&self) {
        if !self.is_exempt {
            drop(self.account.requests.spend(REQUESTS, 1.0).await);
        }
    }
}

/// Tokio's clock, which tests run ahead.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

async fn pause(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::task::JoinSet;

    use super::*;
    use crate::door::admission::options::AddressOptions;

    const PIECE: usize = 16 * 1024;

    fn budgets() -> Arc<Outgoing> {
        let shares = Shares::from(&AddressOptions::default());
        Outgoing::new(&OutgoingOptions::default(), shares, Purpose::ALL.map(|_| Counter::noop()))
    }

    /// Bytes that `connections` connections of an address are sent within `time`.
    async fn sent(budgets: &Arc<Outgoing>, address: &str, connections: usize, time: u64) -> usize {
        let (begin, limit) = (Instant::now(), Duration::from_secs(time));
        let mut all = JoinSet::new();
        for _ in 0..connections {
            let payer = budgets.payer(address.parse().unwrap(), Purpose::Pages);
            all.spawn(async move {
                let mut bytes = 0;
                loop {
                    payer.pay(PIECE).await;
                    if begin.elapsed() > limit {
                        return bytes;
                    }
                    bytes += PIECE;
                }
            });
        }
        all.join_all().await.into_iter().sum()
    }

    /// Symptom: one address asked for the map over 60 connections and took the bytes that players
    /// needed.
    #[tokio::test(start_paused = true)]
    async fn an_address_is_sent_its_budget_however_many_connections_it_has() {
        let budgets = budgets();
        let (each, all) = (budgets.each, budgets.all);
        let at_once = sent(&budgets, "192.0.2.1", 60, 1).await as f64;
        assert!(at_once <= all.burst + all.per_second + PIECE as f64, "{at_once}");
        // The address uses up its burst within seconds. Reconnecting does not renew it.
        sent(&budgets, "192.0.2.1", 60, 10).await;
        let later = sent(&budgets, "192.0.2.1", 8, 10).await as f64;
        assert!((later / (10.0 * each.per_second) - 1.0).abs() < 0.05, "{later}");
    }

    /// All addresses of the /64 prefix of an IPv6 host share one budget.
    #[tokio::test(start_paused = true)]
    async fn another_address_of_a_prefix_is_the_same_payer() {
        let budgets = budgets();
        sent(&budgets, "2001:db8::1", 4, 20).await;
        let later = sent(&budgets, "2001:db8::2", 4, 10).await as f64;
        assert!(later < 11.0 * budgets.each.per_second, "{later}");
        let elsewhere = sent(&budgets, "2001:db8:0:1::1", 1, 1).await as f64;
        assert!(elsewhere > 2.0 * later / 10.0, "{elsewhere}");
    }

    #[tokio::test(start_paused = true)]
    async fn all_addresses_together_leave_the_line_to_the_match_and_take_turns() {
        let budgets = budgets();
        let mut crowd = JoinSet::new();
        for host in 1..=40 {
            let budgets = Arc::clone(&budgets);
            let connections = if host == 1 { 1 } else { 20 };
            crowd.spawn(async move {
                let address = format!("192.0.2.{host}");
                (host, sent(&budgets, &address, connections, 5).await)
            });
        }
        let all: HashMap<i32, usize> = crowd.join_all().await.into_iter().collect();
        let total = all.values().sum::<usize>() as f64;
        let most = budgets.all.burst + 5.0 * budgets.all.per_second;
        assert!(total <= most && total > 0.95 * most, "{total} of {most}");
        // A visitor with one connection is sent as much as each address with twenty.
        let fair = total / 40.0;
        assert!(all[&1] as f64 > 0.9 * fair, "{} of {fair}", all[&1]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_exempt_address_waits_for_the_budget_of_all_alone() {
        let budgets = budgets();
        let time = 20;
        let bytes = sent(&budgets, "127.0.0.1", 8, time).await as f64;
        let most = budgets.all.burst + time as f64 * budgets.all.per_second;
        assert!(bytes <= most && bytes > 0.95 * most, "{bytes} of {most}");
    }

    /// Symptom: 16 connections of an exempt address that asked for pages without a pause left
    /// nothing to visitors.
    #[tokio::test(start_paused = true)]
    async fn an_exempt_address_takes_turns_with_others_however_many_connections_it_has() {
        let budgets = budgets();
        let (exempt, visitor) =
            tokio::join!(sent(&budgets, "127.0.0.1", 16, 3), sent(&budgets, "192.0.2.1", 1, 3));
        assert!(visitor as f64 > 0.9 * exempt as f64, "{visitor} beside {exempt}");
    }

    #[tokio::test(start_paused = true)]
    async fn all_bytes_that_are_sent_are_counted_by_their_purpose() {
        let counts: [Arc<AtomicU64>; Purpose::ALL.len()] = Default::default();
        let sent = counts.clone().map(Counter::from_arc);
        let shares = Shares::from(&AddressOptions::default());
        let options =
            OutgoingOptions { address_outgoing_budget: 1000, ..OutgoingOptions::default() };
        let budgets = Outgoing::new(&options, shares, sent);
        let payer = |purpose| budgets.payer("192.0.2.1".parse().unwrap(), purpose);
        payer(Purpose::Pages).note(1);
        payer(Purpose::Downloads).pay(20).await;
        assert!(payer(Purpose::Queries).pay_at_once(300));
        assert!(!payer(Purpose::Queries).pay_at_once(1_000_000), "this is beyond the budget");
        assert_eq!(counts.map(|count| count.load(Ordering::Relaxed)), [1, 20, 300]);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_an_address_wait_and_others_do_not() {
        let budgets = budgets();
        let begin = Instant::now();
        for _ in 0..500 {
            budgets.payer("192.0.2.1".parse().unwrap(), Purpose::Pages).ask().await;
        }
        let waited = begin.elapsed().as_secs_f64();
        assert!((waited - 100.0 / REQUESTS.per_second).abs() < 0.1, "{waited}");
        budgets.payer("192.0.2.2".parse().unwrap(), Purpose::Pages).ask().await;
        assert_eq!(begin.elapsed().as_secs_f64(), waited);
    }

    #[tokio::test(start_paused = true)]
    async fn a_datagram_beyond_the_budget_of_its_address_is_not_sent() {
        let budgets = budgets();
        let payer = budgets.payer("192.0.2.1".parse().unwrap(), Purpose::Pages);
        let whole = budgets.each.burst as usize;
        assert!(payer.pay_at_once(whole));
        assert!(!payer.pay_at_once(1));
        // Other addresses are answered, although the shared budget has a debt now.
        assert!(budgets.payer("192.0.2.2".parse().unwrap(), Purpose::Pages).pay_at_once(1400));
    }

    #[tokio::test(start_paused = true)]
    async fn the_table_stays_bounded_and_remembers_those_who_are_connected() {
        let budgets = budgets();
        let connected = budgets.payer("192.0.2.1".parse().unwrap(), Purpose::Pages);
        assert!(connected.pay_at_once(budgets.each.burst as usize));
        for n in 0..2 * REMEMBERED as u32 {
            let address = IpAddr::from((0x0a00_0000 + n).to_be_bytes());
            budgets.payer(address, Purpose::Pages).pay_at_once(1);
        }
        assert_eq!(budgets.lock().accounts.len(), REMEMBERED);
        assert!(!budgets.payer("192.0.2.1".parse().unwrap(), Purpose::Pages).pay_at_once(1));
        drop(connected);
    }
}
