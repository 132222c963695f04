use std::time::SystemTime;

/// Prints the machine and its load, for comparison with other results.
pub(crate) fn print() {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let profile = if cfg!(debug_assertions) { "development" } else { "optimised" };
    println!("machine   {}, {cores} cores", processor());
    println!("date      {}", humantime::format_rfc3339_seconds(SystemTime::now()));
    println!("profile   {profile}, {}-{}", std::env::consts::ARCH, std::env::consts::OS);
    println!("load      {}", first_words("/proc/loadavg", 3));
}

/// The name, family and model of the processor. Hosts may hide a part of the name.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = text.lines().find(|line| line.split(':').next().map(str::trim) == Some(key));
        line.and_then(|line| line.split(':').nth(1)).map_or("unknown", str::trim)
    };
    format!("{}, family {} model {}", value("model name"), value("cpu family"), value("model"))
}

fn first_words(path: &str, count: usize) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|_| "unknown".into());
    text.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}
