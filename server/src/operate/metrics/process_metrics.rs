use std::time::{SystemTime, UNIX_EPOCH};

use metrics::{Gauge, gauge};

use super::catalogue;

/// Metrics of the resources that the process uses. Zero where there is no `/proc`.
pub(super) struct ProcessMetrics {
    memory: Gauge,
    processor: Gauge,
    descriptors: Gauge,
    descriptor_limit: Gauge,
    threads: Gauge,
}

impl ProcessMetrics {
    pub(super) fn register() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        gauge!(catalogue::PROCESS_START).set(now.as_secs_f64());
        Self {
            memory: gauge!(catalogue::PROCESS_MEMORY),
            processor: gauge!(catalogue::PROCESS_CPU),
            descriptors: gauge!(catalogue::PROCESS_DESCRIPTORS),
            descriptor_limit: gauge!(catalogue::PROCESS_DESCRIPTOR_LIMIT),
            threads: gauge!(catalogue::PROCESS_THREADS),
        }
    }

    /// Reads the values from the system. A value that the system does not provide stays unchanged.
    #[cfg(target_os = "linux")]
    pub(super) fn observe(&self) {
        use procfs::WithCurrentSystemInfo;

        let Ok(process) = procfs::process::Process::myself() else { return };
        if let Ok(stat) = process.stat() {
            let ticks = stat.utime + stat.stime;
            self.processor.set(ticks as f64 / procfs::ticks_per_second() as f64);
            self.memory.set(stat.rss_bytes().get() as f64);
            self.threads.set(stat.num_threads as f64);
        }
        if let Ok(count) = process.fd_count() {
            self.descriptors.set(count as f64);
        }
        if let Ok(limits) = process.limits()
            && let procfs::process::LimitValue::Value(limit) = limits.max_open_files.soft_limit
        {
            self.descriptor_limit.set(limit as f64);
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn observe(&self) {}
}
