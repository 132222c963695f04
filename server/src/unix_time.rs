/// Seconds since 1970, by the system's clock.
pub(crate) fn unix_time() -> u64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs())
}
