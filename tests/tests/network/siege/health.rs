//! Players to whom the server can send nothing. The watchdog, which checks that snapshots are sent,
//! must not take them for a fault of the server.

use obsp_proto::Tick;
use obsp_proto::download::Download;
use tests::raw_quic::{RawConnection, frame};

use super::*;

/// Symptom: the only player sent commands, but the server could send nothing to that player. The
/// watchdog took this for a fault of the server: `/healthz` failed, and the server ended. A player
/// gets no snapshots if the line is full, or, as in this test, if the client's budget is used up.
#[tokio::test]
async fn a_player_who_can_be_sent_nothing_is_no_fault_of_the_server() {
    let running = serve(Options { client_budget: 4000, ..options() });
    let player = stranger(&running).join().await.unwrap().ok().unwrap();
    timeout(ANSWER, player.connection.read_datagram()).await.unwrap().unwrap();
    // Messages are charged to the budget first. These messages use up the budget of the next ten
    // seconds.
    let line = "x".repeat(160);
    (0..300).for_each(|_| running.handle().say(&line).unwrap());
    let before = read(&running, "game_snapshots_total").await;
    let (begin, mut tick) = (Instant::now(), player.tick);
    while begin.elapsed() < Duration::from_secs(7) {
        tick = tick.after(1);
        player.connection.send_datagram(command(tick).into()).unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let sent = read(&running, "game_snapshots_total").await - before;
    assert!(sent < 5.0, "the budget was not used up: {sent} snapshots");
    let health = get(running.http_addr(), "/healthz").await;
    assert_eq!(health.status, 200, "{}", health.body);
    player.leave().await;
    end(running).await;
}

/// Longest time that a window may take to fill.
const FILLS: Duration = Duration::from_secs(60);

/// A player who acknowledges nothing.
struct Deaf {
    connection: RawConnection,
    begin: Instant,
    /// The tick of the match at `begin`.
    tick: u32,
    challenges: u64,
}

impl Deaf {
    async fn join(running: &Server) -> Self {
        let mut connection = RawConnection::open(STRANGER, running.local_addr(), GAME).unwrap();
        connection.send(&frame::stream(0, 0, &hello()));
        let begin = Instant::now();
        while connection.received().datagrams == 0 {
            assert!(begin.elapsed() < HANG, "no snapshot comes: {:?}", connection.closed());
            connection.receive();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        connection.acknowledge_nothing();
        let tick = read(running, "game_ticks_total").await as u32;
        Self { connection, begin: Instant::now(), tick, challenges: 0 }
    }

    /// Every 20 ms, sends a command for a tick to come. Returns the number of snapshots that came.
    async fn play(&mut self, time: Duration) -> u64 {
        let (begin, before) = (Instant::now(), self.connection.received().datagrams);
        while begin.elapsed() < time {
            let ticks = (self.begin.elapsed().as_secs_f64() * 60.0) as u32;
            self.connection.send(&frame::datagram(&command(Tick(self.tick + ticks + 3))));
            self.connection.receive();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(self.connection.closed(), None);
        self.connection.received().datagrams - before
    }

    /// Challenges the path. Each answer takes a whole packet of the window.
    fn challenge(&mut self) {
        self.challenges += 1;
        self.connection.send(&frame::path_challenge(self.challenges));
    }

    /// Fills the server's congestion window, until no snapshot comes any more.
    async fn fill_window(&mut self) {
        self.connection.send(&frame::whole_stream(4, Download::Map.request()));
        // After a longer burst of challenges, the server would end the connection.
        for _ in 0..100 {
            self.challenge();
            self.play(Duration::from_millis(5)).await;
        }
        let begin = Instant::now();
        loop {
            let mut came = 0;
            // Challenges that come together get a single answer.
            for _ in 0..12 {
                self.challenge();
                came += self.play(Duration::from_millis(140)).await;
            }
            if came == 0 {
                break;
            }
            assert!(begin.elapsed() < FILLS, "the window is never full: {came} snapshots came");
        }
        println!("the window was full after {:?}", self.begin.elapsed());
    }
}

/// A player who acknowledges no packet fills the congestion window, so the server may send nothing
/// more to that player. The server still reports that it is healthy, and it still reports a network
/// thread that hangs meanwhile.
#[tokio::test]
async fn a_player_whose_window_is_full_is_no_fault_and_hides_none() {
    let running = serve(Options { hang_limit: Duration::ZERO, ..options() });
    let mut player = Deaf::join(&running).await;
    player.fill_window().await;
    // This is longer than the watchdog waits for a snapshot.
    let came = player.play(Duration::from_secs(7)).await;
    // QUIC sends a few packets beyond the window, to find out whether the line is dead. They may
    // hold snapshots.
    assert!(came < 7, "the window is not full: {came} snapshots came");
    assert_eq!(read(&running, "game_players").await, 1.0);
    for path in ["/healthz", "/readyz"] {
        let answer = get(running.http_addr(), path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    }

    let held = running.hold_network();
    player.play(Duration::from_secs(2)).await;
    let answer = get(running.http_addr(), "/healthz").await;
    assert_eq!(answer.status, 503, "{}", answer.body);
    assert!(answer.body.starts_with("the network thread hangs"), "{}", answer.body);
    drop(held);
    let begin = Instant::now();
    while get(running.http_addr(), "/healthz").await.status != 200 {
        assert!(begin.elapsed() < HANG, "the server does not recover");
        player.play(Duration::from_millis(100)).await;
    }
    end(running).await;
}
