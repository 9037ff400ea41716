use parlour_domain::{
    ids::{AgentKey, Seq},
    visibility::Visibility,
};

use super::fixture::{ADA, Fixture, ROOM, SCOUT_KEY, event, said};
use crate::{Exception, Lacking, Waiting};

fn lacking(agent: Option<AgentKey>, session_id: &str) -> Lacking {
    Lacking { agent, room: ROOM, session_id: session_id.into() }
}

#[test]
fn keys_are_lacked_by_all_or_by_one_until_they_come_or_are_old() {
    let store = Fixture::new();
    let received_at_ms = said(1).received_at_ms;
    let waiting = Waiting {
        event_id: event(2),
        room: ROOM,
        visibility: Visibility::Shared,
        sender: ADA.try_into().unwrap(),
        session_id: "for all".into(),
        event: "{}".into(),
        received_at_ms,
    };
    let exception = Exception {
        agent: SCOUT_KEY,
        event_id: event(1),
        seq: Seq(1),
        room: ROOM,
        session_id: "for one".into(),
        event: "{}".into(),
    };
    store.says([1]);
    store.write(move |tx| {
        assert!(tx.put_waiting(&waiting, None)?.is_some());
        tx.withhold(&exception)
    });
    let mut lacked = store.read(move |r| r.lacking(received_at_ms));
    lacked.sort_by_key(|lacking| lacking.agent);
    assert_eq!(lacked, [lacking(None, "for all"), lacking(Some(SCOUT_KEY), "for one")]);
    assert_eq!(store.read(move |r| r.lacking(received_at_ms + 1)), []);
    store.write(|tx| tx.readable_now(SCOUT_KEY, &event(1)));
    assert_eq!(store.read(move |r| r.lacking(received_at_ms)), [lacking(None, "for all")]);
}
