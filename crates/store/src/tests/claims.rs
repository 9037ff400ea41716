use parlour_domain::{
    ids::{AgentKey, MessageId},
    quota::{MINUTE_MS, Rule},
};

use super::fixture::{Fixture, OTHER_AGENT, ROOM, SCOUT_KEY, event};
use crate::{Charge, Claim, Claimed, Submission};

fn id(n: u8) -> MessageId {
    MessageId::new(0, [n; 10])
}

fn claim(agent: AgentKey, n: u8) -> Claim {
    Claim {
        agent,
        id: id(n),
        room: ROOM,
        digest: [n; 32],
        content: r#"{"body":"hello"}"#.into(),
        body: r#"{"text":"hello"}"#.into(),
        sealed: None,
        mentions: vec![],
        claimed_at_ms: i64::from(n),
    }
}

fn claims(store: &Fixture, claim: &Claim) -> Claimed {
    let (claim, quota) =
        (claim.clone(), vec![Charge { subject: "minute".into(), rule: Rule::new(2, MINUTE_MS) }]);
    store.write(move |tx| tx.claim(&claim, &quota))
}

fn sent(store: &Fixture, agent: AgentKey, n: u8) -> bool {
    store.write(move |tx| tx.sent(agent, id(n), &event(n.into())))
}

fn pending(store: &Fixture) -> Vec<MessageId> {
    store.read(|r| r.pending_submissions()).into_iter().map(|s| s.id).collect()
}

fn before(claimed: Claimed) -> Submission {
    match claimed {
        Claimed::Before(submission) => submission,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_submission_is_claimed_once_and_charged_once() {
    let store = Fixture::new();
    assert_eq!(claims(&store, &claim(SCOUT_KEY, 1)), Claimed::New);
    let other = Claim { digest: [9; 32], content: "other".into(), ..claim(SCOUT_KEY, 1) };
    for _ in 0..5 {
        let known = before(claims(&store, &other));
        assert_eq!((known.digest, known.event_id), ([1; 32], None), "as first asked");
        assert_eq!(known.content.as_deref(), Some(r#"{"body":"hello"}"#));
        assert_eq!(known.body.map(|b| b.text).as_deref(), Some("hello"));
    }
    assert!(matches!(claims(&store, &claim(SCOUT_KEY, 2)), Claimed::New), "five retries cost nothing");
    assert!(matches!(claims(&store, &claim(SCOUT_KEY, 3)), Claimed::Overdrawn(_)));
    assert_eq!(pending(&store), [id(1), id(2)]);
}

#[test]
fn eight_at_once_claim_it_once() {
    let store = Fixture::new();
    let writes: Vec<_> =
        (0..8).map(|_| store.store.write(|tx| tx.claim(&claim(SCOUT_KEY, 1), &[]))).collect();
    let told: Vec<Claimed> = writes.into_iter().map(|w| store.wait(w).unwrap()).collect();
    assert_eq!(told.iter().filter(|c| matches!(c, Claimed::New)).count(), 1);
}

#[test]
fn an_overdrawn_claim_leaves_nothing() {
    let store = Fixture::new();
    let none = vec![Charge { subject: "none".into(), rule: Rule::new(0, MINUTE_MS) }];
    let told = store.write(move |tx| tx.claim(&claim(SCOUT_KEY, 1), &none));
    assert!(matches!(told, Claimed::Overdrawn(_)));
    assert!(pending(&store).is_empty());
    assert!(matches!(claims(&store, &claim(SCOUT_KEY, 1)), Claimed::New));
}

#[test]
fn it_is_sent_once_and_known_for_good_without_its_text() {
    let store = Fixture::new();
    claims(&store, &claim(SCOUT_KEY, 1));
    assert!(sent(&store, SCOUT_KEY, 1));
    let again = store.write(|tx| tx.sent(SCOUT_KEY, id(1), &event(99)));
    assert!(!again, "the first answer stands");
    let store = store.reopened();
    let known = before(claims(&store, &claim(SCOUT_KEY, 1)));
    assert_eq!((known.event_id, known.content, known.body), (Some(event(1)), None, None));
    assert!(pending(&store).is_empty());
    store.write(|tx| tx.unclaim(SCOUT_KEY, id(1)));
    assert!(store.read(|r| r.submission(SCOUT_KEY, id(1))).is_some(), "what is sent is not taken back");
}

#[test]
fn what_was_certainly_not_sent_can_be_asked_for_again() {
    let store = Fixture::new();
    claims(&store, &claim(SCOUT_KEY, 1));
    store.write(|tx| tx.unclaim(SCOUT_KEY, id(1)));
    assert_eq!(store.read(|r| r.submission(SCOUT_KEY, id(1))), None);
    assert!(!sent(&store, SCOUT_KEY, 1), "nothing to settle");
    assert!(matches!(claims(&store, &claim(SCOUT_KEY, 1)), Claimed::New));
}

/// Also where a restart lies between the claim and the refusal.
#[test]
fn what_a_claim_took_is_given_back_when_nothing_comes_of_it() {
    let store = Fixture::new();
    let named = |n: u8| Claim { mentions: vec![user(n)], ..claim(SCOUT_KEY, n) };
    for n in [1, 2] {
        assert_eq!(claims(&store, &named(n)), Claimed::New);
    }
    assert!(matches!(claims(&store, &named(3)), Claimed::Overdrawn(_)), "two a minute");
    let store = store.reopened();
    assert_eq!(store.write(|tx| tx.unclaim(SCOUT_KEY, id(2))), Some(vec![user(1)]));
    assert_eq!(store.write(|tx| tx.unclaim(SCOUT_KEY, id(2))), None, "once only");
    assert_eq!(claims(&store, &named(3)), Claimed::New, "the quota is back");
    assert_eq!(store.write(|tx| tx.unclaim(SCOUT_KEY, id(1))), None, "it has named others since");
    assert!(matches!(claims(&store, &named(4)), Claimed::New));
}

fn user(n: u8) -> ruma::OwnedUserId {
    format!("@user{n}:example.org").try_into().unwrap()
}

#[test]
fn two_agents_with_one_id_are_two_submissions() {
    let store = Fixture::new();
    assert!(matches!(claims(&store, &claim(SCOUT_KEY, 1)), Claimed::New));
    assert!(matches!(claims(&store, &claim(OTHER_AGENT, 1)), Claimed::New));
    assert!(sent(&store, SCOUT_KEY, 1));
    assert_eq!(store.read(|r| r.submission(OTHER_AGENT, id(1))).unwrap().event_id, None);
}

#[test]
fn an_agent_that_is_gone_takes_its_submissions_along() {
    let store = Fixture::new();
    claims(&store, &claim(SCOUT_KEY, 1));
    claims(&store, &claim(OTHER_AGENT, 2));
    store.write(|tx| tx.agent_is_gone(SCOUT_KEY));
    assert_eq!(pending(&store), [id(2)]);
}
