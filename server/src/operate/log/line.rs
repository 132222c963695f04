use std::fmt::Write;

use tracing::Level;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use crate::operate::log::LogFormat;

/// Formats a line about the log or the process itself, like all other lines. No filter holds it
/// back.
pub(super) fn line(
    format: LogFormat,
    level: Level,
    message: &str,
    fields: &[(&str, serde_json::Value)],
) -> String {
    let mut time = String::new();
    // Writing to memory does not fail; without a time, the line is still good.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    match format {
        LogFormat::Text => {
            let mut line = format!("{time} {level:>5} {message}");
            for (name, value) in fields {
                let _ = write!(line, " {name}={value}");
            }
            line + "\n"
        }
        LogFormat::Json => {
            let mut values = serde_json::Map::new();
            values.insert("message".into(), message.into());
            values.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
            let level = level.as_str();
            let line = serde_json::json!({ "timestamp": time, "level": level, "fields": values });
            format!("{line}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use tracing::subscriber::with_default;
    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::operate::log::lines;
    use crate::operate::log::queue::Queue;

    /// A line of the formatter that makes all other lines, to compare with one of [`line`].
    fn usual(format: LogFormat) -> String {
        let queue = Queue::new();
        let lines = lines(format, false, Arc::clone(&queue));
        with_default(Registry::default().with(lines), || {
            tracing::warn!(lines = 3, reason = "full", "lost");
        });
        let mut batch = Vec::new();
        queue.drain(&mut batch);
        String::from_utf8(batch).unwrap()
    }

    #[test]
    fn lines_about_the_log_look_like_all_others() {
        let fields = [("lines", 3.into()), ("reason", "full".into())];
        let ours = line(LogFormat::Text, Level::WARN, "lost", &fields);
        let usual_line = usual(LogFormat::Text);
        let rest = |line: &str| line.split_once(' ').unwrap().1.to_owned();
        assert_eq!(rest(&ours), rest(&usual_line));
        assert_eq!(ours.len(), usual_line.len(), "{ours}{usual_line}");

        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let ours = json(&line(LogFormat::Json, Level::WARN, "lost", &fields));
        let usual_line = json(&usual(LogFormat::Json));
        let keys = |line: &serde_json::Value| -> BTreeSet<String> {
            line.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(keys(&ours), keys(&usual_line));
        assert_eq!(ours["fields"], usual_line["fields"]);
        assert_eq!(ours["level"], usual_line["level"]);
    }
}
