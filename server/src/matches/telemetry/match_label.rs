use metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Label, Metadata, Recorder, SharedString, Unit,
};
use obsp_proto::control::MatchName;

/// A recorder that registers the series of a match. If the server has several matches, each series
/// gets the name of the match as its label `match`.
pub(crate) struct MatchLabel<'a> {
    recorder: &'a dyn Recorder,
    label: Option<Label>,
}

impl<'a> MatchLabel<'a> {
    pub(crate) fn new(recorder: &'a dyn Recorder, name: Option<&MatchName>) -> Self {
        let label = name.map(|name| Label::new("match", name.as_str().to_owned()));
        Self { recorder, label }
    }

    fn labelled(&self, key: &Key) -> Key {
        let label = self.label.iter().cloned();
        Key::from_parts(
            key.name().to_owned(),
            label.chain(key.labels().cloned()).collect::<Vec<_>>(),
        )
    }
}

impl Recorder for MatchLabel<'_> {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, text: SharedString) {
        self.recorder.describe_counter(key, unit, text);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, text: SharedString) {
        self.recorder.describe_gauge(key, unit, text);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, text: SharedString) {
        self.recorder.describe_histogram(key, unit, text);
    }

    fn register_counter(&self, key: &Key, metadata: &Metadata<'_>) -> Counter {
        self.recorder.register_counter(&self.labelled(key), metadata)
    }

    fn register_gauge(&self, key: &Key, metadata: &Metadata<'_>) -> Gauge {
        self.recorder.register_gauge(&self.labelled(key), metadata)
    }

    fn register_histogram(&self, key: &Key, metadata: &Metadata<'_>) -> Histogram {
        self.recorder.register_histogram(&self.labelled(key), metadata)
    }
}
