//! The smallest useful client: joins the server on this machine, runs forward for ten
//! seconds, and prints what it sees.
//!
//! `cargo run -p client-bot --example smallest`

use std::time::{Duration, Instant};

use obsp_client::quic::{ClientEvent, Connector, ServerAddress, Trust};
use obsp_proto::control::{MapHash, PlayerName};
use obsp_sim::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let connector = Connector::new("127.0.0.1:4433".parse::<ServerAddress>()?, Trust::Loopback)?;
    let mut client = connector.join(&PlayerName::new("example")?, MapHash::ANY).await?;
    let end = Instant::now() + Duration::from_secs(10);
    let mut commands = 0_u16;
    while Instant::now() < end {
        match client.next().await? {
            // A game would read its keys and mouse here.
            ClientEvent::CommandDue => {
                let yaw = commands.wrapping_mul(200);
                client.command(Command { forward: 127, yaw, ..Command::default() });
                commands += 1;
            }
            // A game would also render between snapshots, as often as it can.
            ClientEvent::Snapshot { .. } if commands.is_multiple_of(60) => {
                if let Some((tick, motion)) = client.motion() {
                    let here = motion.position.as_dvec3();
                    let around = client.view().entities_near(here, 500.0).count();
                    println!("tick {tick}: at {:.1}, {around} things around", motion.position);
                }
            }
            ClientEvent::Snapshot { .. } => {}
            ClientEvent::NewWorld => println!("another round, on another map or the same"),
        }
        while let Some((tick, event)) = client.next_event() {
            println!("tick {tick}: {event:?}");
        }
    }
    client.leave().await;
    Ok(())
}
