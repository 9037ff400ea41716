//! A room with people and agents that talk, wait, acknowledge, leave, return and lose everything but the log and their
//! seats, at random. What an agent must have in its inbox is kept a second time, in sets (`believed.rs`), and compared
//! at each decision; each sleep and each answer is judged where it happens (`judge.rs`).

mod believed;
mod judge;
mod world;

use proptest::{collection::vec, option, prelude::*, sample::subsequence};

use self::world::{AGENTS, EVERYBODY, World};
use super::*;
use crate::{
    ids::MessageRef,
    message::samples::{event, message_id},
    wake::Rule,
};

/// Something that happens. Whom and what it concerns are indexes, taken modulo what there is.
#[derive(Clone, Debug)]
enum Op {
    Say {
        by: usize,
        to: Option<usize>,
        reply: Option<usize>,
        hidden: bool,
        elsewhere: i64,
    },
    /// A message that the bridge learns of late: it arrives last but stands after an older one.
    SayLate {
        by: usize,
        after: usize,
    },
    Type {
        by: usize,
        on: bool,
    },
    Pass {
        ms: i64,
    },
    Wait {
        agent: usize,
        terms: Terms,
    },
    AckLast {
        agent: usize,
    },
    AckAny {
        agent: usize,
        at: usize,
        room: Option<RoomKey>,
    },
    /// Of a message in another room, for all rooms.
    AckElsewhere {
        agent: usize,
    },
    Enter {
        agent: usize,
    },
    Leave {
        agent: usize,
    },
    Knock {
        agent: usize,
    },
    Admit {
        agent: usize,
    },
    Restart,
}

fn user(n: usize) -> OwnedUserId {
    UserId::parse(EVERYBODY[n]).unwrap()
}

fn somebody() -> impl Strategy<Value = BTreeSet<OwnedUserId>> {
    subsequence((0..EVERYBODY.len()).collect::<Vec<_>>(), 0..=2)
        .prop_map(|s| s.into_iter().map(user).collect())
}

fn watch() -> impl Strategy<Value = Watch> {
    let rule = prop_oneof![Just(Rule::Related), Just(Rule::Mentions), Just(Rule::All)];
    let target = (1i64..60, any::<bool>()).prop_map(|(n, by_event)| match by_event {
        true => MessageRef::Event(event(n)),
        false => MessageRef::Message(message_id(n)),
    });
    let by_rule = rule.prop_map(|rule| Watch { rule, ..Watch::default() });
    let explicit = (somebody(), somebody(), option::weighted(0.2, target))
        .prop_map(|(from, wait_for, reply_to)| Watch { rule: Rule::Related, from, wait_for, reply_to });
    prop_oneof![2 => by_rule, 1 => explicit]
}

fn terms() -> impl Strategy<Value = Terms> {
    let wait_ms = prop_oneof![1 => Just(0), 6 => 1_000i64..=30_000];
    let settle_ms = prop_oneof![2 => Just(0), 3 => Just(5_000), 1 => 0i64..=30_000];
    let digest_ms = option::weighted(0.3, 1_000i64..=90_000);
    let mentions_only = prop::bool::weighted(0.15);
    (wait_ms, 1usize..=12, settle_ms, digest_ms, watch(), mentions_only).prop_map(
        |(wait_ms, limit, settle_ms, digest_ms, watch, mentions_only)| {
            let (digest_ms, watch) = match mentions_only {
                true => (None, Watch { rule: Rule::Mentions, ..Watch::default() }),
                false => (digest_ms, watch),
            };
            Terms { wait_ms, limit, settle_ms, digest_ms, watch, mentions_only, room: None }
        },
    )
}

fn say() -> impl Strategy<Value = Op> {
    let to = option::weighted(0.3, 0..EVERYBODY.len());
    let elsewhere = prop_oneof![4 => Just(0), 1 => 1i64..5];
    (0..EVERYBODY.len(), to, option::weighted(0.2, 0usize..40), prop::bool::weighted(0.1), elsewhere)
        .prop_map(|(by, to, reply, hidden, elsewhere)| Op::Say { by, to, reply, hidden, elsewhere })
}

fn op() -> impl Strategy<Value = Op> {
    let agent = || 0..AGENTS;
    let room = prop_oneof![3 => Just(None), 1 => Just(Some(RoomKey(1))), 1 => Just(Some(RoomKey(2)))];
    let ms = prop_oneof![3 => 0i64..4_000, 1 => 0i64..40_000];
    prop_oneof![
        24 => say(),
        2 => (0..EVERYBODY.len(), 0usize..40).prop_map(|(by, after)| Op::SayLate { by, after }),
        4 => (0..EVERYBODY.len(), any::<bool>()).prop_map(|(by, on)| Op::Type { by, on }),
        12 => ms.prop_map(|ms| Op::Pass { ms }),
        12 => (agent(), terms()).prop_map(|(agent, terms)| Op::Wait { agent, terms }),
        4 => agent().prop_map(|agent| Op::AckLast { agent }),
        3 => (agent(), 0usize..40, room).prop_map(|(agent, at, room)| Op::AckAny { agent, at, room }),
        1 => agent().prop_map(|agent| Op::AckElsewhere { agent }),
        3 => agent().prop_map(|agent| Op::Enter { agent }),
        2 => agent().prop_map(|agent| Op::Leave { agent }),
        1 => agent().prop_map(|agent| Op::Knock { agent }),
        1 => agent().prop_map(|agent| Op::Admit { agent }),
        1 => Just(Op::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Whatever happens: an inbox holds what it has to hold, no sleep misses a decision, no answer breaks a rule. And
    /// agent 0, which never stops waiting for all and acknowledges the last it got, is given all that others said
    /// while it was in, or it is counted as lost.
    #[test]
    fn nothing_is_lost_and_nothing_is_given_twice(ops in vec(op(), 1..150)) {
        let mut world = World::new();
        for op in ops {
            world.apply(op);
        }
        world.drain();
        let diligent = &world.agents[0].believed;
        let reached: BTreeSet<Seq> = diligent.given.union(&diligent.dropped).copied().collect();
        prop_assert!(diligent.owed.is_subset(&reached), "{:?} never reached it", &diligent.owed - &reached);
    }
}
