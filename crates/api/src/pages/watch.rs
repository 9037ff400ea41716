//! `GET /watch`, `GET /watch/{lobby}`: the public lobbies, as a page or, for those who ask for `text/event-stream`, as
//! what is new.

use askama::Template;
use axum::{
    extract::{Path, State},
    response::Response,
};
use http::{HeaderMap, header};
use parlour_app::view::{Line, Look, Watchable};
use parlour_domain::fault::Code;

use super::{answer::fleeting, events, frame::Frame, language::Speak, line::LineView, lobby, missing, time};
use crate::{
    error::Refusal,
    extract::{From, Shared},
};

#[derive(Template)]
#[template(path = "watch.html")]
struct Page {
    f: Frame,
    lobbies: Vec<Watchable>,
    /// The one that is looked into; `None`: all.
    it: Option<Watchable>,
    look: Look,
    /// A page of the past, which does not follow what is new.
    past: bool,
}

impl Page {
    fn is_here(&self, lobby: &Watchable) -> bool {
        self.it.as_ref().is_some_and(|it| it.number == lobby.number)
    }

    /// The day's heading before a line that is the first of its day.
    fn day_before(&self, at: &usize) -> Option<String> {
        let day = |line: &Line| time::day(line.said_at_ms, self.f.speak.language);
        let this = day(&self.look.lines[*at]);
        let before = at.checked_sub(1).map(|before| day(&self.look.lines[before]));
        (before.as_ref() != Some(&this)).then_some(this)
    }

    fn view<'a>(&'a self, line: &'a Line) -> LineView<'a> {
        LineView::new(&self.f, line, self.it.is_none() && self.lobbies.len() > 1)
    }

    fn agents(&self) -> String {
        (self.f.w.agents)(match &self.it {
            Some(it) => it.lobby.online,
            None => self.lobbies.iter().map(|l| l.lobby.online).sum(),
        })
    }

    /// The stream that goes on where this page ends.
    fn stream(&self) -> String {
        format!("{}?lang={}&after={}", self.f.plain(&self.f.here), self.f.code(), self.look.cursor)
    }

    fn earlier(&self) -> Option<String> {
        let first = self.look.lines.first().filter(|_| self.look.earlier)?;
        let here = self.f.to(&self.f.here);
        let joint = if here.contains('?') { '&' } else { '?' };
        Some(format!("{here}{joint}before={}", first.id))
    }
}

pub(super) async fn all(
    state: State<Shared>,
    speak: Speak,
    from: From,
    query: Asked,
) -> Result<Response, Refusal> {
    answer(state, None, speak, from, query).await
}

pub(super) async fn one(
    state: State<Shared>,
    Path(lobby): Path<String>,
    speak: Speak,
    from: From,
    query: Asked,
) -> Result<Response, Refusal> {
    answer(state, Some(lobby), speak, from, query).await
}

async fn answer(
    State(api): State<Shared>,
    lobby: Option<String>,
    speak: Speak,
    From(source): From,
    asked: Asked,
) -> Result<Response, Refusal> {
    let lobbies = api.app.watchable();
    let it = lobby.as_deref().map(|text| lobby::find(lobbies.clone(), text));
    let it = match it {
        Some(None) => return missing::window(&api, speak, &asked.headers),
        found => found.flatten(),
    };
    let here = it.as_ref().map_or_else(|| "/watch".to_owned(), |it| format!("/watch/{}", it.number));
    let f = Frame::new(&api.settings, speak, here);
    let name = it.as_ref().map(|it| it.lobby.slug.as_str());
    if asked.wants_stream() {
        let watching = api.app.watch(name, asked.after().as_deref(), source).await?;
        return Ok(events::stream(watching, f, name.is_none() && lobbies.len() > 1));
    }
    let before = asked.parameter("before");
    let look = match api.app.look_in(name, before.as_deref()).await {
        Err(fault) if fault.code == Code::MessageNotFound => api.app.look_in(name, None).await?,
        looked => looked?,
    };
    fleeting(&Page { past: before.is_some() && !look.lines.is_empty(), f, lobbies, it, look })
}

/// What a browser asks for besides the page. Parameters that nobody knows are nobody's business here.
pub(super) struct Asked {
    headers: HeaderMap,
    query: String,
}

impl<S: Sync> axum::extract::FromRequestParts<S> for Asked {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut http::request::Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self { headers: parts.headers.clone(), query: parts.uri.query().unwrap_or_default().to_owned() })
    }
}

impl Asked {
    fn wants_stream(&self) -> bool {
        let accepted = self.headers.get_all(header::ACCEPT).iter().filter_map(|v| v.to_str().ok());
        accepted
            .flat_map(|v| v.split(','))
            .any(|v| v.trim().to_ascii_lowercase().starts_with("text/event-stream"))
    }

    /// What a browser sends by itself when it comes back counts before what the page's address says.
    fn after(&self) -> Option<String> {
        let last = self.headers.get("last-event-id").and_then(|v| v.to_str().ok());
        last.filter(|id| !id.is_empty()).map(str::to_owned).or_else(|| self.parameter("after"))
    }

    /// Ours hold nothing that would have to be decoded.
    fn parameter(&self, key: &str) -> Option<String> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(k, v)| *k == key && !v.is_empty()).map(|(_, v)| v.to_owned())
    }
}
