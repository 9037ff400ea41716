//! Random interleavings of messages, edits, redactions, keys, joins and leaves, against a plain model: nobody reads what
//! was not theirs, everybody reads what was, and is handed it once.

mod world;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use world::World;

const AGENTS: usize = 3;
const SESSIONS: usize = 4;
const PEOPLE: [&str; 2] = ["@ada:x", "@bob:x"];

#[derive(Clone, Debug)]
enum Act {
    /// Somebody's next event comes: in clear, or with the key of a session.
    Comes {
        event: prop::sample::Index,
        session: Option<usize>,
    },
    /// A redaction comes, of what has come or of what is still to come; by its author or by the other one.
    Redacts {
        event: prop::sample::Index,
        own: bool,
    },
    Key {
        agent: usize,
        session: usize,
    },
    Joins(usize),
    Leaves(usize),
    /// The agent is handed everything and acknowledges it.
    Drains(usize),
    Restarts,
}

fn act() -> impl Strategy<Value = Act> {
    let index = any::<prop::sample::Index>;
    let session = || prop::option::weighted(0.8, 0..SESSIONS);
    prop_oneof![
        12 => (index(), session()).prop_map(|(event, session)| Act::Comes { event, session }),
        2 => (index(), any::<bool>()).prop_map(|(event, own)| Act::Redacts { event, own }),
        8 => (0..AGENTS, 0..SESSIONS).prop_map(|(agent, session)| Act::Key { agent, session }),
        3 => (0..AGENTS).prop_map(Act::Joins),
        2 => (0..AGENTS).prop_map(Act::Leaves),
        3 => (0..AGENTS).prop_map(Act::Drains),
        1 => Just(Act::Restarts),
    ]
}

/// What an event is, before anybody knows of it.
#[derive(Clone, Copy, Debug)]
struct Event {
    by: usize,
    /// An edit of this one.
    edits: Option<usize>,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = (0..PEOPLE.len(), prop::option::of(any::<prop::sample::Index>()));
    prop::collection::vec(event, 2..11).prop_map(|raw| {
        let kinds: Vec<bool> = raw.iter().map(|(_, edits)| edits.is_none()).collect();
        let messages: Vec<usize> = (0..raw.len()).filter(|&i| kinds[i]).collect();
        let edits = |index: prop::sample::Index| (!messages.is_empty()).then(|| *index.get(&messages));
        raw.iter().map(|(by, of)| Event { by: *by, edits: of.and_then(edits) }).collect()
    })
}

/// Who may read what, by the plainest means.
#[derive(Default)]
struct Model {
    /// In the order they came: event, session, who was in.
    came: Vec<(usize, Option<usize>, BTreeSet<usize>)>,
    redacted: BTreeSet<usize>,
    keys: BTreeSet<(usize, usize)>,
    inside: BTreeSet<usize>,
    handed: BTreeMap<(usize, usize), usize>,
}

impl Model {
    fn reads(&self, agent: usize, event: usize) -> bool {
        let here = self.came.iter().find(|(e, ..)| *e == event);
        here.is_some_and(|(_, session, inside)| {
            let key = session.is_none_or(|session| self.keys.contains(&(agent, session)));
            key && inside.contains(&agent) && !self.redacted.contains(&event)
        })
    }

    fn session(&self, event: usize) -> Option<usize> {
        self.came.iter().find(|(e, ..)| *e == event).and_then(|(_, session, _)| *session)
    }

    /// Messages in the room's order, as the agent should read them.
    fn shows(&self, events: &[Event], agent: usize) -> Vec<(usize, String)> {
        let messages = self.came.iter().map(|(e, ..)| *e).filter(|e| events[*e].edits.is_none());
        let worded = |m: usize| {
            let counts = |e: &usize| {
                let clear = self.session(m).is_some() && self.session(*e).is_none();
                events[*e].edits == Some(m) && events[*e].by == events[m].by && !clear
            };
            let newest = (0..events.len()).rev().filter(counts).find(|e| self.reads(agent, *e));
            (m, words(newest.unwrap_or(m)))
        };
        messages.filter(|m| self.reads(agent, *m)).map(worded).collect()
    }
}

fn words(event: usize) -> String {
    format!("words of {event}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nobody_reads_what_was_not_theirs_and_everybody_gets_what_was_once(
        events in events(),
        acts in prop::collection::vec(act(), 1..60),
    ) {
        let mut world = World::new(events);
        for act in &acts {
            world.act(act);
            world.check();
        }
        world.end();
    }
}
