//! What the bridge counts, as its operator is shown it.

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use tokio::runtime::Builder;

/// The figures of one bridge, over all its starts. Other bridges in the process have their own.
pub(crate) struct Figures {
    recorder: &'static PrometheusRecorder,
    handle: PrometheusHandle,
}

impl Figures {
    /// The recorder is never freed: threads of a bridge that crashed may use it as long as the test runs.
    pub(crate) fn new() -> Self {
        let recorder = Box::leak(Box::new(PrometheusBuilder::new().build_recorder()));
        Self { handle: recorder.handle(), recorder }
    }

    /// All threads of the runtime count here.
    pub(crate) fn of_runtime(&self, builder: &mut Builder) {
        let recorder = self.recorder;
        builder.on_thread_start(move || std::mem::forget(metrics::set_default_local_recorder(recorder)));
    }

    /// The sum of a counter over all its labels.
    pub(crate) fn count(&self, name: &str) -> u64 {
        let figures = self.handle.render();
        let lines = figures.lines().filter(|line| line.split(['{', ' ']).next() == Some(name));
        lines.map(|line| line.rsplit(' ').next().and_then(|n| n.parse::<u64>().ok()).expect("a count")).sum()
    }
}
