//! Loads the map of a match, from a file or from the server, and the game's data from the
//! server. Each transfer has a stream of its own.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use obsp_proto::control::ServerHello;
use obsp_proto::download::{Download, Receiver};
use quinn::Connection;
use tokio::time::timeout;

use super::MapStore;
use crate::{LoadedMap, MapError};

/// Bytes read at a time.
const CHUNK: usize = 16 * 1024;

/// Maximum time for loading a map and the game, their transfer included.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A map that is being loaded.
pub(super) type PendingMap = Pin<Box<dyn Future<Output = Result<Arc<LoadedMap>, MapError>> + Send>>;

/// Starts to load the map and the game's data that the server's hello names.
pub(super) fn start(maps: Arc<MapStore>, connection: Connection, hello: ServerHello) -> PendingMap {
    Box::pin(async move {
        let loaded = maps.get(&hello, |what| fetch(connection.clone(), what));
        let late = |_| MapError::Fetch("it took too long".to_owned());
        timeout(TIMEOUT, loaded).await.map_err(late)?
    })
}

/// Waits until the pending map is loaded. Waits forever if no map is pending.
pub(super) async fn wait(map: &mut Option<PendingMap>) -> Result<Arc<LoadedMap>, MapError> {
    match map {
        Some(map) => map.await,
        None => std::future::pending().await,
    }
}

/// Requests the map, or the game's data, on a stream of its own.
async fn fetch(connection: Connection, what: Download) -> Result<Vec<u8>, MapError> {
    let failed = |error: &dyn Display| MapError::Fetch(error.to_string());
    let (mut send, mut receive) = connection.open_bi().await.map_err(|error| failed(&error))?;
    send.write_all(what.request()).await.map_err(|error| failed(&error))?;
    send.finish().map_err(|error| failed(&error))?;
    let mut content = Receiver::new(what);
    let mut chunk = vec![0; CHUNK];
    while let Some(length) = receive.read(&mut chunk).await.map_err(|error| failed(&error))? {
        content.receive(&chunk[..length])?;
    }
    Ok(content.finish()?)
}
