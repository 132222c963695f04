use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obsp_game::AnyGame;
use obsp_game::arena::Arena;

use super::options::Options;
use super::{MatchBuilder, Server};
use crate::common::error::StartError;

/// Builds a server in a program of your own: the map, the game, and where it listens.
///
/// ```no_run
/// use obsp_game::arena::Arena;
/// use server::Server;
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::builder().map("arena.obsp").game(Arena).bind().await?;
/// println!("players join on UDP {}", server.local_addr());
/// server.ending().await;
/// server.join()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a server runs once it is bound"]
pub struct ServerBuilder {
    options: Options,
    game: Arc<dyn AnyGame>,
    others: Vec<(String, MatchBuilder)>,
}

impl Default for ServerBuilder {
    fn default() -> Self {
        Self { options: Options::new("arena.obsp"), game: Arc::new(Arena), others: Vec::new() }
    }
}

impl ServerBuilder {
    /// The map: a path, or a name found in `maps/`. A `.map` is compiled first. The default is the
    /// arena that comes with the server.
    pub fn map(mut self, map: impl AsRef<Path>) -> Self {
        self.options.map = map.as_ref().to_string_lossy().into_owned();
        self
    }

    /// The game; by default the arena game.
    pub fn game(mut self, game: impl AnyGame + 'static) -> Self {
        self.game = Arc::new(game);
        self
    }

    /// The UDP address on which players join; port 0 takes any that is free. The default is port
    /// 4433 of all addresses of the machine.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.options.listen = vec![address];
        self
    }

    /// The TCP address of the page and the metrics; port 0 takes any that is free. The default is
    /// port 8080 of the loopback interface.
    #[cfg(feature = "pages")]
    pub fn http(mut self, address: SocketAddr) -> Self {
        self.options.pages.http = address;
        self
    }

    /// The file of the module with which the page replays this game, as `server/web/wasm/build
    /// --game` writes it. Without it, the page replays the arena game alone.
    #[cfg(feature = "pages")]
    pub fn replay_module(mut self, file: impl Into<PathBuf>) -> Self {
        self.options.pages.replay_module = Some(file.into());
        self
    }

    /// Maximum number of players at a time; by default 32.
    pub fn max_players(mut self, players: u16) -> Self {
        self.options.max_players = players;
        self
    }

    /// Props that are scattered in addition to the props of the map and the game; by default none.
    pub fn objects(mut self, objects: u32) -> Self {
        self.options.objects = objects;
        self
    }

    /// Adds a match on the same port, which clients join by its name: letters and digits, hyphens
    /// and underscores. The match of this builder is the first, and is called `main`. A server has
    /// eight matches at most.
    pub fn add_match(mut self, name: impl Into<String>, added: MatchBuilder) -> Self {
        self.others.push((name.into(), added));
        self
    }

    /// All options at once, as the command line has them. They replace the options that were set
    /// before.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Loads the map, sets up the match, opens the ports and starts the threads.
    ///
    /// # Errors
    /// [`StartError`] says what is missing or wrong, and what to do. Nothing runs then.
    pub async fn bind(self) -> Result<Server, StartError> {
        let starting = tokio::task::spawn_blocking(move || {
            Server::start_all(&self.options, self.game, &self.others)
        });
        let crashed = |error| StartError::Thread { part: "start", source: io::Error::other(error) };
        starting.await.unwrap_or_else(|error| Err(crashed(error)))
    }
}
