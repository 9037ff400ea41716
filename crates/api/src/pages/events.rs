//! What is new in a lobby, as server-sent events (HTML Living Standard, 9.2).
//!
//! Ids of events are cursors: a browser that comes back with the last one is told what it missed, nothing twice, and
//! what became of the rest, also after a restart of the bridge. Events that repeat themselves on such a return
//! (`change`, `keep`) bear none.

use std::{convert::Infallible, time::Duration};

use askama::Template;
use axum::response::{
    IntoResponse, Response, Sse,
    sse::{Event, KeepAlive},
};
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderName, HeaderValue, header};
use parlour_app::view::{Line, News};
use serde_json::{Value, json};

use super::{frame::Frame, line::LineView};
use crate::app::Watching;

/// Proxies hang up on what is silent for a minute.
const ALIVE: Duration = Duration::from_secs(15);

/// nginx passes the events on at once.
const NO_BUFFER: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) fn stream(watching: Watching, frame: Frame, placed: bool) -> Response {
    let sse = Sse::new(events(watching, frame, placed)).keep_alive(KeepAlive::new().interval(ALIVE));
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::VARY, HeaderValue::from_static("Accept, Accept-Language")),
        (NO_BUFFER, HeaderValue::from_static("no")),
    ];
    (headers, sse).into_response()
}

fn events(watching: Watching, frame: Frame, placed: bool) -> impl Stream<Item = Result<Event, Infallible>> {
    let news = stream::unfold(watching, |mut watching| async {
        let news = watching.next().await?;
        Some((stream::iter(news), watching))
    });
    news.flatten().map(move |news| Ok(event(news, &frame, placed)))
}

fn event(news: News, frame: &Frame, placed: bool) -> Event {
    let shown = |line: &Line, before: Option<String>| {
        let html = LineView::new(frame, line, placed).render().unwrap_or_default();
        json!({"id": line.id, "before": before, "html": html})
    };
    match news {
        News::Reset => named("reset", &json!({})),
        News::Added { line, before, cursor } => named("add", &shown(&line, before)).id(cursor),
        News::Changed { line, before } => named("change", &shown(&line, before)),
        News::Removed(id) => named("remove", &json!({"id": id})),
        News::Expired(id) => named("expire", &json!({"id": id})),
        News::Kept(ids) => named("keep", &json!({"ids": ids})),
    }
}

/// JSON holds no line end that is not escaped, which an event's data must not.
fn named(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(data.to_string())
}
