use std::sync::Arc;

use parlour_app::view::{
    Access, Answers, CodeState, Gap, IncomingKnock, Knock, KnockStatus, Line, Lobby, News, Quote, RoomHops,
    Seen, Speaker, Watchable,
};
use parlour_domain::{
    agent::{Agent, Author},
    code::AgentCode,
    ids::{AgentId, AgentKey, CatalogId, MessageId, Pos, RoomKey, Seq},
    message::{Body, Message},
    room::{Room, RoomKind},
    share::{Place, share},
    visibility::Visibility,
    window::Piece,
};
use ruma::{event_id, owned_event_id, owned_room_id, owned_user_id};

const NOW: i64 = 1_796_000_000_000;

pub(crate) fn agent() -> Agent {
    Agent {
        key: AgentKey(1),
        id: AgentId::new(NOW, [1; 10]),
        display_name: "Scout #2316".to_owned(),
        user_id: owned_user_id!("@agent_2316:example.org"),
        created_at_ms: NOW,
    }
}

pub(crate) fn room() -> Arc<Room> {
    Arc::new(Room {
        key: RoomKey(1),
        room_id: owned_room_id!("!lobby:example.org"),
        catalog_id: CatalogId::new(NOW, [2; 10]),
        kind: RoomKind::Lobby,
        name: Some("Lobby".to_owned()),
    })
}

pub(crate) fn hops() -> RoomHops {
    RoomHops { catalog_id: room().catalog_id, hops: 9 }
}

pub(crate) fn knock() -> Knock {
    Knock {
        catalog_id: CatalogId::new(NOW, [3; 10]),
        status: KnockStatus::Waiting,
        knocked_at_ms: NOW,
        expires_at_ms: NOW + 3_600_000,
    }
}

pub(crate) fn incoming_knock() -> IncomingKnock {
    IncomingKnock {
        room: room(),
        agent_id: AgentId::new(NOW, [4; 10]),
        display_name: "Guest #0042".to_owned(),
        knocked_at_ms: NOW,
        expires_at_ms: NOW + 3_600_000,
        person: None,
    }
}

pub(crate) fn gaps() -> Vec<Gap> {
    let gap = Gap {
        room_id: owned_room_id!("!lobby:example.org"),
        after_event_id: None,
        before_event_id: owned_event_id!("$person"),
        reason: "too_many".to_owned(),
    };
    vec![gap.clone(), Gap { after_event_id: Some(owned_event_id!("$earlier")), ..gap }]
}

pub(crate) fn by_person() -> Seen {
    let author = Author::Person { display_name: "Ada".to_owned(), avatar_url: None };
    seen(message(event_id!("$person"), author, "Hello"))
}

pub(crate) fn by_agent() -> Seen {
    let Agent { key, id, display_name, user_id, .. } = agent();
    let mut message = message(event_id!("$agent"), Author::Agent { key, id, display_name }, "I am here");
    message.sender = user_id;
    Seen { from_me: true, ..seen(message) }
}

pub(crate) fn with_everything() -> Seen {
    let author =
        Author::Person { display_name: "Ada".to_owned(), avatar_url: Some("mxc://example.org/a".to_owned()) };
    let mut message = message(event_id!("$all"), author, &"long ".repeat(300));
    message.body.mentions = vec![owned_user_id!("@agent_2316:example.org")];
    message.body.attachment_name = Some("plan.pdf".to_owned());
    let answered = by_person().message.message_id;
    Seen {
        mentions_me: true,
        mentions_everyone: true,
        before_join: true,
        reply_to: Some(answered.to_string()),
        quote: Some(Quote {
            message_id: answered,
            actor_name: "Ada".to_owned(),
            excerpt: "Hello".to_owned(),
        }),
        room: Arc::new(Room { name: None, ..room().as_ref().clone() }),
        ..seen(message)
    }
}

fn seen(message: Message) -> Seen {
    Seen {
        message: Arc::new(message),
        room: room(),
        from_me: false,
        mentions_me: false,
        mentions_everyone: false,
        before_join: false,
        reply_to: None,
        quote: None,
    }
}

fn message(event_id: &ruma::EventId, author: Author, text: &str) -> Message {
    Message {
        seq: Seq(1),
        pos: Pos(1),
        room: RoomKey(1),
        event_id: event_id.to_owned(),
        message_id: MessageId::of_event(NOW, event_id),
        sender: owned_user_id!("@ada:example.org"),
        author,
        sent_at_ms: NOW,
        received_at_ms: NOW,
        visibility: Visibility::Shared,
        encrypted: false,
        hops: 0,
        body: Body { text: text.to_owned(), ..Body::default() },
        replied: None,
        edits: vec![],
    }
}

pub(crate) fn code() -> CodeState {
    CodeState::Visible(AgentCode::new([7; 8]))
}

pub(crate) fn access(code: CodeState) -> Access {
    let place = Place { public_url: "https://agents.example.org", room: room().catalog_id };
    let shown = match code {
        CodeState::Visible(code) => Some(code),
        CodeState::Hidden | CodeState::Missing => None,
    };
    Access { room: room(), code, guide_url: place.guide_url(), share: share(place, shown) }
}

/// One lobby, or two.
pub(crate) fn watchable(two: bool) -> Vec<Watchable> {
    let lobby = |slug: &str, name: &str, n: u8| Watchable {
        lobby: Lobby { name: name.to_owned(), slug: slug.to_owned(), online: n.into(), default: n == 2 },
        number: CatalogId::new(NOW, [n; 10]),
        alias: format!("#{slug}:example.org"),
    };
    let mut all = vec![lobby("lobby", "Lobby", 2)];
    all.extend(two.then(|| lobby("garden", "The <Garden>", 1)));
    all
}

/// A plain one, and one with all that a message can have, hostile where it can be.
pub(crate) fn lines() -> Vec<Arc<Line>> {
    let piece = |text: &str, mention| Piece { text: text.to_owned(), mention };
    let plain = Line {
        id: "plain-line_00000".to_owned(),
        seq: Seq(1),
        pos: Pos(1),
        lobby: "lobby".to_owned(),
        lobby_name: "Lobby".to_owned(),
        speaker: Speaker { name: "Ada".to_owned(), agent: false, mark: "ada".to_owned() },
        said_at_ms: NOW,
        edited: false,
        answers: None,
        to: vec![],
        pieces: vec![piece("Hello ", false), piece("Scout #2316", true)],
        cut: false,
        attachment: None,
    };
    let full = Line {
        id: "full-line_000000".to_owned(),
        seq: Seq(2),
        speaker: Speaker { name: HOSTILE.to_owned(), agent: true, mark: "scout".to_owned() },
        said_at_ms: NOW + 86_400_000,
        edited: true,
        answers: Some(Answers::Known {
            id: plain.id.clone(),
            name: HOSTILE.to_owned(),
            excerpt: HOSTILE.to_owned(),
        }),
        to: vec![HOSTILE.to_owned()],
        pieces: vec![piece(HOSTILE, true), piece(&format!("{HOSTILE}\n").repeat(20), false)],
        cut: true,
        attachment: Some(HOSTILE.to_owned()),
        ..plain.clone()
    };
    let orphan = Line { id: "orphan-line_0000".to_owned(), answers: Some(Answers::Unknown), ..plain.clone() };
    vec![Arc::new(plain), Arc::new(full), Arc::new(orphan)]
}

pub(crate) const HOSTILE: &str = "</script><img src=x onerror=\"alert(1)\">'&amp;{{";

pub(crate) fn news() -> Vec<News> {
    let lines = lines();
    vec![
        News::Reset,
        News::Kept(vec!["kept".to_owned()]),
        News::Added { line: lines[1].clone(), before: Some(lines[2].id.clone()), cursor: "c1".to_owned() },
        News::Changed { line: lines[0].clone(), before: None },
        News::Removed("removed".to_owned()),
        News::Expired("expired".to_owned()),
    ]
}
