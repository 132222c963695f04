//! Keeps the server's certificate valid.
//!
//! The server's own certificate is valid for thirteen days. The wall clock may be set by years, and
//! the machine may sleep for weeks. So the certificate is compared with the clock every minute, and
//! replaced if it is not valid or near its end. An operator's files are read again every hour, and
//! at each reload. Their validity is also compared with the clock every minute.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tracing::{info, warn};

use super::certificate::Certificate;
use super::reset_key::ResetKey;
use super::{Endpoints, Limits, server_config};
use crate::common::clock::Clock;
use crate::common::error::CertificateError;
use crate::door::public_endpoint::PublicEndpoint;
use crate::door::public_endpoint::validity::{Validity, date};

/// A self-signed certificate is replaced this long before its end.
const SELF_SIGNED_LEFT: i64 = 24 * 3600;

/// Time after which certificate files are read again. Operators renew them days before the old ones
/// end.
const FILE_AGE: Duration = Duration::from_secs(3600);

/// Where the server's certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// The server makes its own certificate.
    SelfSigned,
    /// An operator keeps certificate and key in files.
    Files {
        /// The chain, in PEM.
        certificate: PathBuf,
        /// The certificate's private key, in PEM.
        key: PathBuf,
    },
}

impl Credentials {
    /// The credentials of `--cert` and `--key`.
    pub(crate) fn new(certificate: Option<&Path>, key: Option<&Path>) -> Self {
        match (certificate, key) {
            (Some(certificate), Some(key)) => {
                Self::Files { certificate: certificate.to_owned(), key: key.to_owned() }
            }
            _ => Self::SelfSigned,
        }
    }

    /// Makes a certificate that is valid from `now` on, or reads one.
    pub(crate) fn certificate(&self, now: SystemTime) -> Result<Certificate, CertificateError> {
        match self {
            Self::SelfSigned => Ok(Certificate::self_signed(now)?),
            Self::Files { certificate, key } => Certificate::read(certificate, key),
        }
    }

    /// The key for the server's stateless resets ([`ResetKey`]), which has to outlast a restart. It
    /// comes from `certificate`'s key, unless the server makes a new one at each start.
    pub(crate) fn reset_key(&self, certificate: &Certificate, state: Option<&Path>) -> ResetKey {
        match self {
            Self::SelfSigned => ResetKey::kept_in(state),
            Self::Files { .. } => ResetKey::of_private_key(&certificate.key),
        }
    }

    /// The warning about a certificate of this validity, if an operator must renew it.
    pub(crate) fn warning(&self, validity: Option<Validity>, now: SystemTime) -> Option<String> {
        let Self::Files { certificate, .. } = self else { return None };
        let warning = validity?.warning(now)?;
        Some(format!(
            "{}: {warning}; replace the file: it is read every hour and by `server admin reload`",
            certificate.display()
        ))
    }
}

/// Keeps valid the certificate that new connections are shown. Open connections are not affected.
pub(crate) struct Renewal {
    endpoints: Endpoints,
    /// The limits that connections are configured for.
    limits: Limits,
    /// The place where pages find the current certificate.
    public: Arc<PublicEndpoint>,
    /// A function that receives the end of each new certificate, in seconds since 1970, if it is
    /// known.
    shows_end: Box<dyn Fn(Option<i64>) + Send + Sync>,
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    credentials: Credentials,
    /// The elapsed time of the machine at which the files were read last.
    read: Duration,
    /// Whether the log already says that the certificate is not valid.
    is_fault_told: bool,
}

impl Renewal {
    /// Renews the certificate of these endpoints, which comes from `credentials` and was read just
    /// now. `shows_end` receives the end of each new one.
    pub(crate) fn new(
        credentials: Credentials,
        endpoints: Endpoints,
        limits: Limits,
        public: Arc<PublicEndpoint>,
        shows_end: impl Fn(Option<i64>) + Send + Sync + 'static,
        clock: Clock,
    ) -> Self {
        let read = clock.now().elapsed;
        let state = Mutex::new(State { credentials, read, is_fault_told: false });
        let shows_end = Box::new(shows_end);
        Self { endpoints, limits, public, shows_end, clock, state }
    }

    /// Compares the certificate with the clock, and replaces it if that is due. It is called every
    /// minute.
    pub(crate) fn renew_if_due(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        match &state.credentials {
            Credentials::SelfSigned => self.renew_own(now.wall),
            Credentials::Files { .. } => {
                // Files that were read more than an hour ago are due, even if this process stood
                // still meanwhile.
                if now.elapsed.saturating_sub(state.read) >= FILE_AGE {
                    state.read = now.elapsed;
                    state.is_fault_told = false;
                    match self.take(&state.credentials, now.wall) {
                        Ok(Some(renewed)) => info!("{renewed}"),
                        Ok(None) => {}
                        Err(error) => {
                            warn!(
                                "the certificate could not be renewed, and the old one stays: \
                                 {error}"
                            );
                        }
                    }
                }
                let validity = *self.public.validity.borrow();
                let is_faulty = validity.is_some_and(|own| own.fault(now.wall).is_some());
                let warns = is_faulty && !state.is_fault_told || now.elapsed == state.read;
                if let Some(warning) = state.credentials.warning(validity, now.wall)
                    && warns
                {
                    warn!("{warning}");
                }
                state.is_fault_told = is_faulty;
            }
        }
    }

    /// Makes a new own certificate if the old one is not valid now or is near its end.
    fn renew_own(&self, now: SystemTime) {
        let validity = *self.public.validity.borrow();
        let Some(old) = validity else { return };
        let [wait, left] = old.distances(now);
        if wait <= 0 && left > SELF_SIGNED_LEFT {
            return;
        }
        match self.take(&Credentials::SelfSigned, now) {
            Ok(Some(renewed)) if wait > 0 || left < 0 => warn!(
                "the server's own certificate was valid {old}, and this machine's clock shows {}: \
                 the clock was set, or the machine slept; {renewed}",
                date(now)
            ),
            Ok(renewed) => info!("{}", renewed.unwrap_or_default()),
            Err(error) => {
                warn!("the certificate could not be renewed, and the old one stays: {error}");
            }
        }
    }

    /// Reads the files again, or other files if the options now name others.
    ///
    /// # Errors
    /// The files cannot be used, or can be used only after a restart. The old certificate stays.
    pub(crate) fn reload(&self, credentials: Credentials) -> Result<Vec<String>, String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        match (&state.credentials, &credentials) {
            (Credentials::SelfSigned, Credentials::SelfSigned) => return Ok(Vec::new()),
            // Clients are told at `/info` whether they have to pin the certificate, and the key of
            // stateless resets depends on it, too. Neither changes while the server runs.
            (Credentials::SelfSigned, Credentials::Files { .. }) => {
                return Err(
                    "a server that makes its own certificate needs a restart to read one".into()
                );
            }
            (Credentials::Files { .. }, Credentials::SelfSigned) => {
                return Err(
                    "a server with --cert needs a restart to make its own certificate".into()
                );
            }
            (Credentials::Files { .. }, Credentials::Files { .. }) => {}
        }
        let changed = self.take(&credentials, now.wall)?;
        if let Some(warning) = credentials.warning(*self.public.validity.borrow(), now.wall) {
            warn!("{warning}");
        }
        *state = State { credentials, read: now.elapsed, is_fault_told: true };
        Ok(changed.into_iter().collect())
    }

    /// Shows clients the certificate of these credentials from now on. Returns `None` if they are
    /// shown it already.
    fn take(&self, credentials: &Credentials, now: SystemTime) -> Result<Option<String>, String> {
        let new = credentials.certificate(now).map_err(|error| error.to_string())?;
        let (fingerprint, validity, not_after) = (new.fingerprint, new.validity, new.not_after());
        if fingerprint == *self.public.certificate.borrow() {
            return Ok(None);
        }
        let https = new.https().map_err(|error| error.to_string())?;
        let config = server_config(new, self.limits).map_err(|error| error.to_string())?;
        self.endpoints.set_server_config(Some(config));
        self.public.https.send_replace(Arc::new(https));
        self.public.validity.send_replace(validity);
        self.public.certificate.send_replace(fingerprint);
        (self.shows_end)(not_after);
        let until = validity.map(|validity| format!(", valid {validity}")).unwrap_or_default();
        Ok(Some(format!("certificate renewed, SHA-256 {fingerprint}{until}")))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use obsp_proto::Fingerprint;
    use tokio::sync::watch;

    use super::*;
    use crate::door::public_endpoint::advertise::Advertised;
    use crate::network::{Queries, Sockets, bind};
    use crate::server::options::Options;

    const DAY: u64 = 24 * 3600;
    /// The first of January 2000, where machines without a battery begin.
    const BOOT: u64 = 946_684_800;

    /// A renewal of a server that was started with these credentials at `clock`'s time.
    fn renewal(credentials: Credentials, clock: &Clock) -> Renewal {
        let certificate = credentials.certificate(clock.now().wall).unwrap();
        let sockets = bind(&[(Ipv4Addr::LOCALHOST, 0).into()]).unwrap();
        let (queries, _asked) = Queries::queue();
        let sockets =
            Sockets { sockets, queries, proxies: Vec::new(), proxy_drops: Arc::default() };
        let limits = Limits::from(&Options::new("arena"));
        let public = PublicEndpoint {
            listens: Vec::new(),
            advertised: watch::Sender::new(Advertised { host: None, port: 1 }),
            certificate: watch::Sender::new(certificate.fingerprint),
            validity: watch::Sender::new(certificate.validity),
            https: watch::Sender::new(Arc::new(certificate.https().unwrap())),
            self_signed: credentials == Credentials::SelfSigned,
        };
        let endpoints =
            Endpoints::open(sockets, certificate, &ResetKey::kept_in(None), limits).unwrap();
        Renewal::new(credentials, endpoints, limits, Arc::new(public), |_| {}, clock.clone())
    }

    fn shown(renewal: &Renewal) -> Fingerprint {
        *renewal.public.certificate.borrow()
    }

    fn fault(renewal: &Renewal) -> Option<String> {
        renewal.public.certificate_fault(renewal.clock.now().wall)
    }

    fn within<T>(test: impl FnOnce() -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _context = runtime.enter();
        test()
    }

    /// Cases: the clock is set forward by decades, the clock is set back by a year, and the machine
    /// sleeps for weeks.
    #[test]
    fn clock_step_certificate_is_noticed_within_a_minute() {
        within(|| {
            for (start, step) in [(BOOT, 1_800_000_000), (1_800_000_000, 1_765_000_000)] {
                let clock = Clock::by_hand(start);
                let renewal = renewal(Credentials::SelfSigned, &clock);
                let first = shown(&renewal);
                renewal.renew_if_due();
                assert_eq!(shown(&renewal), first, "nothing is due");
                clock.set(step);
                let fault = fault(&renewal).unwrap();
                assert!(fault.contains("by this machine's clock (20"), "{fault}");
                renewal.renew_if_due();
                assert_ne!(shown(&renewal), first);
                assert_eq!(self::fault(&renewal), None);
            }
            let clock = Clock::by_hand(1_800_000_000);
            let renewal = renewal(Credentials::SelfSigned, &clock);
            let first = shown(&renewal);
            clock.pass(Duration::from_secs(14 * DAY));
            assert!(fault(&renewal).unwrap().contains("expired"));
            renewal.renew_if_due();
            assert_ne!(shown(&renewal), first);
            assert_eq!(fault(&renewal), None);
        });
    }

    #[test]
    fn an_own_certificate_is_renewed_a_day_before_its_end_and_not_sooner() {
        within(|| {
            let clock = Clock::by_hand(1_800_000_000);
            let renewal = renewal(Credentials::SelfSigned, &clock);
            let first = shown(&renewal);
            // The certificate's validity began an hour before it was made, and lasts for thirteen
            // days.
            clock.pass(Duration::from_secs(12 * DAY - 3600 - 1));
            renewal.renew_if_due();
            assert_eq!(shown(&renewal), first);
            clock.pass(Duration::from_secs(1));
            renewal.renew_if_due();
            assert_ne!(shown(&renewal), first);
        });
    }

    /// Symptom: a server said "needs a restart" at the first reload, and took the files at the
    /// second.
    #[test]
    fn a_second_reload_refuses_the_same_as_the_first() {
        within(|| {
            let folder = std::env::temp_dir().join(format!("refused-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let clock = Clock::by_hand(1_800_000_000);
            let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
            let new = Certificate::self_signed(clock.now().wall).unwrap();
            std::fs::write(&certificate, new.pem()[0].as_bytes()).unwrap();
            std::fs::write(&key, new.pem()[1].as_bytes()).unwrap();
            let files = Credentials::new(Some(&certificate), Some(&key));
            for (used, other) in
                [(Credentials::SelfSigned, files.clone()), (files, Credentials::SelfSigned)]
            {
                let renewal = renewal(used.clone(), &clock);
                let first = shown(&renewal);
                for _ in 0..2 {
                    let error = renewal.reload(other.clone()).unwrap_err();
                    assert!(error.contains("restart"), "{error}");
                    assert_eq!(shown(&renewal), first);
                    assert_eq!(renewal.reload(used.clone()), Ok(Vec::new()));
                }
            }
            std::fs::remove_dir_all(folder).unwrap();
        });
    }

    #[test]
    fn certificate_files_are_read_every_hour_and_on_request_and_judged_by_the_clock() {
        within(|| {
            let folder = std::env::temp_dir().join(format!("renewal-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
            let replace = |now| {
                let new = Certificate::self_signed(now).unwrap();
                std::fs::write(&certificate, new.pem()[0].as_bytes()).unwrap();
                std::fs::write(&key, new.pem()[1].as_bytes()).unwrap();
                new.fingerprint
            };
            let clock = Clock::by_hand(1_800_000_000);
            let mut latest = replace(clock.now().wall);
            let credentials = Credentials::new(Some(&certificate), Some(&key));
            let renewal = renewal(credentials.clone(), &clock);
            assert_eq!(shown(&renewal), latest);
            let old = std::mem::replace(&mut latest, replace(clock.now().wall));
            clock.pass(FILE_AGE - Duration::from_secs(1));
            renewal.renew_if_due();
            assert_eq!(shown(&renewal), old);
            clock.pass(Duration::from_secs(1));
            renewal.renew_if_due();
            assert_eq!(shown(&renewal), latest);

            latest = replace(clock.now().wall);
            assert_eq!(renewal.reload(credentials.clone()).unwrap().len(), 1);
            assert_eq!(shown(&renewal), latest);
            assert_eq!(renewal.reload(credentials.clone()), Ok(Vec::new()), "nothing is new");
            std::fs::write(&key, "").unwrap();
            let error = renewal.reload(credentials).unwrap_err();
            assert!(error.contains("key.pem") && error.contains("empty"), "{error}");
            assert_eq!(shown(&renewal), latest, "the old one stays");

            clock.set(BOOT);
            assert!(fault(&renewal).unwrap().contains("becomes valid only in"));
            std::fs::remove_dir_all(folder).unwrap();
        });
    }
}
