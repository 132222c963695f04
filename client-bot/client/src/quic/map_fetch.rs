//! Loads the map of a match: from a file, or from the server by a stream of its own.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use obsp_proto::control::ServerHello;
use obsp_proto::map_transfer::{MapReceiver, REQUEST};
use quinn::Connection;
use tokio::time::timeout;

use super::MapStore;
use crate::{LoadedMap, MapError};

/// Bytes of a map read at a time.
const CHUNK: usize = 16 * 1024;

/// How long loading a map may take, its transfer included.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A map that is being loaded.
pub(super) type PendingMap = Pin<Box<dyn Future<Output = Result<Arc<LoadedMap>, MapError>> + Send>>;

/// Starts to load the map that the server's hello names.
pub(super) fn start(maps: Arc<MapStore>, connection: Connection, hello: ServerHello) -> PendingMap {
    Box::pin(async move {
        let loaded = maps.get(hello.map, &hello.map_name, fetch(connection));
        let late = |_| MapError::Fetch("it took too long".to_owned());
        timeout(TIMEOUT, loaded).await.map_err(late)?
    })
}

/// Waits until the pending map is loaded; forever if there is none.
pub(super) async fn wait(map: &mut Option<PendingMap>) -> Result<Arc<LoadedMap>, MapError> {
    match map {
        Some(map) => map.await,
        None => std::future::pending().await,
    }
}

/// Requests the map on a stream of its own.
async fn fetch(connection: Connection) -> Result<Vec<u8>, MapError> {
    let failed = |error: &dyn Display| MapError::Fetch(error.to_string());
    let (mut send, mut receive) = connection.open_bi().await.map_err(|error| failed(&error))?;
    send.write_all(REQUEST).await.map_err(|error| failed(&error))?;
    send.finish().map_err(|error| failed(&error))?;
    let mut map = MapReceiver::new();
    let mut chunk = vec![0; CHUNK];
    while let Some(length) = receive.read(&mut chunk).await.map_err(|error| failed(&error))? {
        map.receive(&chunk[..length])?;
    }
    Ok(map.finish()?)
}
