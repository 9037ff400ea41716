//! The ping both ways: we call the homeserver, and it calls us back (Matrix spec, application service API, "Pinging").

use std::{
    net::TcpListener,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{extract::Request, middleware::Next, response::Response};
use bytes::Bytes;
use parlour_app::runtime::Tasks;
use parlour_matrix::{BoxFuture, Inbound, TransactionError};
use ruma::{RoomAliasId, UserId};
use serde_json::json;

use super::{Bench, Report, listen::Listening, probe::Answer};

/// The same for each check: nothing depends on it.
const TXN_ID: &str = "parlour-check";

/// Statuses that the homeserver's calls were answered with.
type Seen = Arc<Mutex<Vec<u16>>>;

/// Whether the homeserver reached us.
pub(super) async fn check(bench: &Bench, listening: Listening, tasks: &Tasks, report: &mut Report) -> bool {
    let seen = Seen::default();
    match listening {
        Listening::We(listener) => {
            if let Err(cause) = stand_in(bench, listener, &seen, tasks) {
                report.missing("ping", &format!("cannot listen for it: {cause}; check again"));
                return false;
            }
        }
        Listening::Parlour => {}
        Listening::Nobody => {
            report.missing("ping", "left out, since server.listen cannot be used");
            return false;
        }
    }
    let path = ["v1", "appservice", bench.registration.id.as_str(), "ping"];
    let answer = bench.probe.post(&path, &json!({"transaction_id": TXN_ID})).await;
    judge(bench, answer, &seen, report)
}

fn judge(bench: &Bench, answer: Result<Answer, String>, seen: &Seen, report: &mut Report) -> bool {
    let url = bench.registration.url.as_deref().unwrap_or("nothing");
    match answer {
        Ok(answer) if answer.is_ok() => {
            report.ok("ping", &format!("the homeserver reaches us at {url}"));
            true
        }
        // As in `serve`: a homeserver without this call shows by its transactions whether it reaches us.
        Ok(answer) if matches!(answer.status, 404 | 405) => {
            report.note(
                "ping",
                "the homeserver knows no ping, so whether it reaches us shows only when people speak",
            );
            false
        }
        Ok(answer) => {
            let refused =
                seen.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|s| matches!(s, 401 | 403));
            report.missing("ping", &format!("{} ({})", why(&answer, url, refused), answer.describe()));
            false
        }
        Err(cause) => {
            report.missing("ping", &format!("the homeserver gave no answer: {cause}; look into its log"));
            false
        }
    }
}

/// Codes of the specification, and what stands behind them.
fn why(answer: &Answer, url: &str, refused: bool) -> String {
    if refused {
        return "the homeserver uses another hs_token than our registration file; restart it, so that it reads the file \
                that we read"
            .to_owned();
    }
    match answer.errcode() {
        "M_URL_NOT_SET" => "the homeserver's registration has no url; write it anew and restart the homeserver".to_owned(),
        "M_CONNECTION_FAILED" | "M_CONNECTION_TIMEOUT" => format!(
            "the homeserver cannot reach us at {url}; set server.appservice_url to an address that works from the \
             homeserver (from a container, 127.0.0.1 is the container itself), write the registration anew and restart \
             the homeserver"
        ),
        "M_BAD_STATUS" => format!(
            "something else than this bridge answers at {url}, or a proxy in between refuses the call; correct \
             server.appservice_url, write the registration anew and restart the homeserver"
        ),
        "M_FORBIDDEN" => {
            "the homeserver knows our token under another id; restart it, so that it reads the file that we read".to_owned()
        }
        _ => "the homeserver did not ping us; look into its log".to_owned(),
    }
}

/// Takes the place of `serve` for the moment, as far as the homeserver's calls go.
fn stand_in(bench: &Bench, listener: TcpListener, seen: &Seen, tasks: &Tasks) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let seen = Arc::clone(seen);
    let router = parlour_matrix::router(Arc::new(StandIn), bench.registration.hs_token.clone())
        .layer(axum::middleware::from_fn(move |request, next| note(Arc::clone(&seen), request, next)));
    let (serving, stop) = (axum::serve(listener, router), tasks.token());
    // Without a graceful end: idle connections of the homeserver would hold it up.
    tasks.spawn(async move {
        tokio::select! {
            _ = serving => {}
            () = stop.cancelled() => {}
        }
    });
    Ok(())
}

async fn note(seen: Seen, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(response.status().as_u16());
    response
}

/// Knows nobody and takes nothing: the homeserver keeps its transactions for the bridge.
struct StandIn;

impl Inbound for StandIn {
    fn transaction(&self, _: String, _: Bytes) -> BoxFuture<'_, Result<(), TransactionError>> {
        Box::pin(async { Err(TransactionError::Unavailable) })
    }

    fn pinged(&self, _: Option<String>) {}

    fn knows_user(&self, _: &UserId) -> bool {
        false
    }

    fn knows_alias(&self, _: &RoomAliasId) -> bool {
        false
    }
}
