//! Figures for Prometheus, on an address apart from the public's.

use std::{net::SocketAddr, time::Duration};

use axum::{Router, http::header::CONTENT_TYPE, routing::get};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use parlour_app::runtime::Tasks;

use super::listen;
use crate::{config::Config, failure::Failure};

/// Upper bounds of the histograms' buckets, in seconds: from a request served out of memory to a wait of 30 s.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 35.0];

/// Samples that nobody fetches pile up until this is done.
const UPKEEP: Duration = Duration::from_secs(5);

/// The recorder behind all figures of this process.
pub(super) struct Figures {
    listen: SocketAddr,
    handle: PrometheusHandle,
}

impl Figures {
    /// Begins to count, if the config wants figures at all. Before anything is counted: counters made earlier would
    /// stay without effect.
    pub(super) fn start(config: &Config) -> Result<Option<Self>, Failure> {
        let Some(listen) = config.metrics.listen else { return Ok(None) };
        let fail = |e: &dyn std::fmt::Display| {
            Failure::new(format!("metrics: {e}; leave metrics.listen out for now"))
        };
        let builder = PrometheusBuilder::new().set_buckets(&BUCKETS).map_err(|e| fail(&e))?;
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).map_err(|e| fail(&e))?;
        Ok(Some(Self { listen, handle }))
    }

    /// # Errors
    /// The address cannot be used.
    pub(super) fn serve(self, tasks: &Tasks) -> Result<(), Failure> {
        let listener = listen::bind("metrics.listen", self.listen)?;
        let handle = self.handle.clone();
        let answer =
            move || std::future::ready(([(CONTENT_TYPE, "text/plain; version=0.0.4")], handle.render()));
        tasks.spawn(parlour_api::serve(
            listener,
            Router::new().route("/metrics", get(answer)),
            tasks.clone(),
        ));
        tasks.spawn(upkeep(self.handle, tasks.clone()));
        Ok(())
    }
}

async fn upkeep(handle: PrometheusHandle, tasks: Tasks) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(UPKEEP) => handle.run_upkeep(),
            () = tasks.stopped() => return,
        }
    }
}
