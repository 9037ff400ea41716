//! A double of the use cases: it writes down what it is asked and gives samples back.

mod operator;

use std::sync::Arc;

use parking_lot::Mutex;
use parlour_app::{
    request::{Browse, Enter, Join, Send, Source, Wait},
    view::{
        Access, Acked, Admitted, Browsed, CodeState, Entered, Inbox, IncomingKnock, Lobby, Look, Looked, Me,
        News, OwnRoom, Seen, Sent, Watchable, Welcome,
    },
};
use parlour_domain::{
    fault::{Code, Fault},
    ids::MessageId,
    source::Source as Address,
    wait::Reason,
};
use ruma::{owned_event_id, owned_room_id, owned_user_id};

use crate::tests::{
    samples,
    support::{Ask, TOKEN, response},
};

#[derive(Debug, Default)]
pub struct App {
    off: bool,
    door: bool,
    everything: bool,
    unconfirmed: bool,
    broken: bool,
    asked: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller;

/// Tells everything there is to tell, once.
#[derive(Debug)]
pub(crate) struct Watching(Vec<News>);

impl Watching {
    pub(crate) async fn next(&mut self) -> Option<Vec<News>> {
        Some(std::mem::take(&mut self.0)).filter(|news| !news.is_empty())
    }
}

/// What a test may want it to be.
impl App {
    pub(crate) fn open() -> Self {
        Self::default()
    }

    pub(crate) fn switched_off() -> Self {
        Self { off: true, ..Self::default() }
    }

    /// Nothing works; listing lobbies panics.
    pub(crate) fn broken() -> Self {
        Self { broken: true, ..Self::default() }
    }

    pub(crate) fn behind_a_door(self) -> Self {
        Self { door: true, ..self }
    }

    pub(crate) fn with_everything(self) -> Self {
        Self { everything: true, ..self }
    }

    pub(crate) fn unconfirmed(self) -> Self {
        Self { unconfirmed: true, ..self }
    }

    /// What is asked of it.
    pub(crate) fn notes(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.asked)
    }

    /// What one request asks of the use cases.
    pub(crate) async fn asked(ask: Ask) -> String {
        let app = Self::open();
        let asked = app.notes();
        let _ = response(app, ask).await;
        let asked = asked.lock();
        asked.join("\n")
    }

    fn note(&self, what: String) -> Result<(), Fault> {
        self.asked.lock().push(what);
        if self.broken { Err(Fault::unavailable("broken on purpose")) } else { Ok(()) }
    }

    fn seen(&self) -> Vec<Seen> {
        if self.everything { vec![samples::by_person(), samples::with_everything()] } else { Vec::new() }
    }

    fn entered(&self) -> Entered {
        if self.door { Entered::Knock(samples::knock()) } else { Entered::Room(samples::room()) }
    }
}

/// What handlers call: names and types are those of `parlour_app::App`.
#[allow(clippy::unused_async, reason = "the real ones wait")]
impl App {
    pub(crate) fn open_for_agents(&self) -> Result<(), Fault> {
        if self.off { Err(Fault::new(Code::Disabled, "Switched off.")) } else { Ok(()) }
    }

    pub(crate) fn caller(&self, bearer: Option<&str>) -> Result<Caller, Fault> {
        self.open_for_agents()?;
        if bearer == Some(TOKEN) { Ok(Caller) } else { Err(Fault::unauthorized()) }
    }

    pub(crate) fn source(self: &Arc<Self>, address: Address) -> Source {
        Source(address.key(&[7; 32]))
    }

    pub(crate) async fn join(self: &Arc<Self>, ask: Join, source: Source) -> Result<Welcome, Fault> {
        self.note(format!("join {ask:?} from {source:?}"))?;
        Ok(Welcome { agent: samples::agent(), token: TOKEN.to_owned().into(), entered: self.entered() })
    }

    pub(crate) async fn enter(
        self: &Arc<Self>,
        _: &Caller,
        ask: Enter,
        source: Source,
    ) -> Result<Entered, Fault> {
        self.note(format!("enter {ask:?} from {source:?}"))?;
        Ok(self.entered())
    }

    #[allow(clippy::panic, reason = "what happens then is tested")]
    pub(crate) fn lobbies(&self) -> Vec<Lobby> {
        if self.broken {
            panic!("on purpose, with a secret");
        }
        vec![Lobby { name: "Lobby".to_owned(), slug: "lobby".to_owned(), online: 2, default: true }]
    }

    pub(crate) fn watchable(&self) -> Vec<Watchable> {
        if self.broken { vec![] } else { samples::watchable(self.everything) }
    }

    pub(crate) async fn look_in(&self, lobby: Option<&str>, before: Option<&str>) -> Result<Look, Fault> {
        self.note(format!("look_in {lobby:?} {before:?}"))?;
        let lines = if self.everything { samples::lines() } else { vec![] };
        Ok(Look { lines, earlier: self.everything, cursor: "cursor".to_owned() })
    }

    pub(crate) async fn watch(
        self: &Arc<Self>,
        lobby: Option<&str>,
        after: Option<&str>,
        source: Source,
    ) -> Result<Watching, Fault> {
        self.note(format!("watch {lobby:?} {after:?} from {source:?}"))?;
        Ok(Watching(samples::news()))
    }

    pub(crate) async fn me(self: &Arc<Self>, _: &Caller) -> Result<Me, Fault> {
        self.note("me".to_owned())?;
        let (knocks, incoming_knocks) = if self.door {
            (vec![samples::knock()], vec![samples::incoming_knock()])
        } else {
            (vec![], vec![])
        };
        let hops = if self.door { vec![samples::hops()] } else { vec![] };
        let (agent, rooms) = (samples::agent(), vec![samples::room()]);
        Ok(Me { agent, rooms, knocks, incoming_knocks, max_hops: 8, hops })
    }

    pub(crate) async fn leave(self: &Arc<Self>, _: &Caller) -> Result<(), Fault> {
        self.note("leave".to_owned())
    }

    pub(crate) async fn wait(self: &Arc<Self>, _: &Caller, ask: Wait) -> Result<Inbox, Fault> {
        self.note(format!("wait {ask:#?}"))?;
        let mut inbox = Inbox {
            messages: self.seen(),
            pending: 0,
            dropped: 0,
            skipped: 0,
            remaining: 0,
            reason: Reason::Timeout,
            event_ids: vec![],
            missing: vec![],
            gaps: vec![],
            incoming_knocks: vec![],
        };
        if self.everything {
            inbox.reason = Reason::Messages;
            inbox.event_ids = vec![owned_event_id!("$person")];
            inbox.missing = vec![owned_user_id!("@bob:example.org")];
            inbox.gaps = samples::gaps();
            inbox.incoming_knocks = vec![samples::incoming_knock()];
            (inbox.pending, inbox.dropped, inbox.skipped, inbox.remaining) = (9, 4, 3, 4);
        }
        Ok(inbox)
    }

    pub(crate) async fn ack(
        self: &Arc<Self>,
        _: &Caller,
        event_id: &str,
        room_id: Option<&str>,
    ) -> Result<Acked, Fault> {
        self.note(format!("ack {event_id:?} {room_id:?}"))?;
        Ok(Acked { acknowledged: true, pending: 3 })
    }

    pub(crate) async fn send(self: &Arc<Self>, _: &Caller, ask: Send) -> Result<Sent, Fault> {
        self.note(format!("send {ask:?}"))?;
        Ok(Sent {
            submission_id: MessageId::new(0, [5; 10]),
            room_id: owned_room_id!("!lobby:example.org"),
            event_id: (!self.unconfirmed).then(|| owned_event_id!("$sent")),
        })
    }

    pub(crate) async fn lookup(self: &Arc<Self>, _: &Caller, ids: Vec<String>) -> Result<Looked, Fault> {
        self.note(format!("lookup {ids:?}"))?;
        let missing = if self.everything { ids.into_iter().skip(2).collect() } else { ids };
        Ok(Looked { messages: self.seen(), missing })
    }

    pub(crate) async fn browse(self: &Arc<Self>, _: &Caller, ask: Browse) -> Result<Browsed, Fault> {
        self.note(format!("browse {ask:?}"))?;
        let next_cursor = self.everything.then(|| owned_event_id!("$all"));
        Ok(Browsed { messages: self.seen(), next_cursor })
    }

    pub(crate) async fn create_private_room(
        self: &Arc<Self>,
        _: &Caller,
        name: &str,
    ) -> Result<OwnRoom, Fault> {
        self.note(format!("create_private_room {name:?}"))?;
        Ok(OwnRoom { created: !self.everything, access: self.access() })
    }

    pub(crate) async fn close_private_room(self: &Arc<Self>, _: &Caller, room: &str) -> Result<(), Fault> {
        self.note(format!("close_private_room {room:?}"))
    }

    pub(crate) async fn show_code(self: &Arc<Self>, _: &Caller, room: &str) -> Result<Access, Fault> {
        self.note(format!("show_code {room:?}"))?;
        Ok(self.access())
    }

    pub(crate) async fn show_or_make_code(self: &Arc<Self>, _: &Caller, room: &str) -> Result<Access, Fault> {
        self.note(format!("show_or_make_code {room:?}"))?;
        Ok(self.access())
    }

    pub(crate) async fn replace_code(self: &Arc<Self>, _: &Caller, room: &str) -> Result<Access, Fault> {
        self.note(format!("replace_code {room:?}"))?;
        Ok(self.access())
    }

    pub(crate) async fn disable_code(self: &Arc<Self>, _: &Caller, room: &str) -> Result<(), Fault> {
        self.note(format!("disable_code {room:?}"))
    }

    pub(crate) async fn list_knocks(
        self: &Arc<Self>,
        _: &Caller,
        room: &str,
    ) -> Result<Vec<IncomingKnock>, Fault> {
        self.note(format!("list_knocks {room:?}"))?;
        Ok(if self.door { vec![samples::incoming_knock()] } else { vec![] })
    }

    pub(crate) async fn admit(
        self: &Arc<Self>,
        _: &Caller,
        room: &str,
        agent: &str,
    ) -> Result<Admitted, Fault> {
        self.note(format!("admit {room:?} {agent:?}"))?;
        let agent = samples::agent();
        Ok(Admitted { agent_id: agent.id, display_name: agent.display_name })
    }

    pub(crate) async fn decline(self: &Arc<Self>, _: &Caller, room: &str, agent: &str) -> Result<(), Fault> {
        self.note(format!("decline {room:?} {agent:?}"))
    }

    pub(crate) async fn invite_person(
        self: &Arc<Self>,
        _: &Caller,
        room: &str,
        account_id: &str,
        source: Source,
    ) -> Result<(), Fault> {
        self.note(format!("invite_person {room:?} {account_id:?} from {source:?}"))
    }

    pub(crate) async fn remove_agent(
        self: &Arc<Self>,
        _: &Caller,
        room: &str,
        agent: &str,
    ) -> Result<(), Fault> {
        self.note(format!("remove_agent {room:?} {agent:?}"))
    }

    fn access(&self) -> Access {
        match (self.door, self.unconfirmed) {
            (true, _) => samples::access(CodeState::Hidden),
            (_, true) => samples::access(CodeState::Missing),
            _ => samples::access(samples::code()),
        }
    }

    pub(crate) async fn healthy(&self) -> bool {
        !self.broken
    }
}
