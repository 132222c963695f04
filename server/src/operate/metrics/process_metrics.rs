use std::time::{SystemTime, UNIX_EPOCH};

use metrics::{Gauge, gauge};

use super::catalogue;

/// Metrics of the resources that the process uses. A value that the system does not report at the
/// start has no series, because zero would be wrong.
pub(super) struct ProcessMetrics {
    memory: Option<Gauge>,
    processor: Option<Gauge>,
    descriptors: Option<Gauge>,
    descriptor_limit: Option<Gauge>,
    threads: Option<Gauge>,
}

/// The values, as far as the system reports them.
#[derive(Default)]
struct Values {
    memory: Option<f64>,
    processor: Option<f64>,
    descriptors: Option<f64>,
    descriptor_limit: Option<f64>,
    threads: Option<f64>,
}

impl ProcessMetrics {
    pub(super) fn register() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        gauge!(catalogue::PROCESS_START).set(now.as_secs_f64());
        let values = Values::read();
        Self {
            memory: values.memory.map(|_| gauge!(catalogue::PROCESS_MEMORY)),
            processor: values.processor.map(|_| gauge!(catalogue::PROCESS_CPU)),
            descriptors: values.descriptors.map(|_| gauge!(catalogue::PROCESS_DESCRIPTORS)),
            descriptor_limit: values
                .descriptor_limit
                .map(|_| gauge!(catalogue::PROCESS_DESCRIPTOR_LIMIT)),
            threads: values.threads.map(|_| gauge!(catalogue::PROCESS_THREADS)),
        }
    }

    /// Reads the values from the system. A value that the system does not report now stays
    /// unchanged.
    pub(super) fn observe(&self) {
        let values = Values::read();
        for (gauge, value) in [
            (&self.memory, values.memory),
            (&self.processor, values.processor),
            (&self.descriptors, values.descriptors),
            (&self.descriptor_limit, values.descriptor_limit),
            (&self.threads, values.threads),
        ] {
            if let (Some(gauge), Some(value)) = (gauge, value) {
                gauge.set(value);
            }
        }
    }
}

impl Values {
    #[cfg(target_os = "linux")]
    fn read() -> Self {
        use procfs::WithCurrentSystemInfo;
        use procfs::process::{LimitValue, Process};

        let Ok(process) = Process::myself() else { return Self::default() };
        let stat = process.stat().ok();
        let limit =
            process.limits().ok().and_then(|limits| match limits.max_open_files.soft_limit {
                LimitValue::Value(limit) => Some(limit as f64),
                LimitValue::Unlimited => None,
            });
        Self {
            memory: stat.as_ref().map(|stat| stat.rss_bytes().get() as f64),
            processor: stat
                .as_ref()
                .map(|stat| (stat.utime + stat.stime) as f64 / procfs::ticks_per_second() as f64),
            descriptors: process.fd_count().ok().map(|count| count as f64),
            descriptor_limit: limit,
            threads: stat.as_ref().map(|stat| stat.num_threads as f64),
        }
    }

    /// Other systems have no `/proc`.
    #[cfg(not(target_os = "linux"))]
    fn read() -> Self {
        Self::default()
    }
}
