//! Whatever happens in whatever order: each message reaches each agent that waits and acknowledges exactly once, its own
//! ones never, and each submission is one event.

use std::collections::{BTreeMap, BTreeSet};

use parlour_app::request::{Send, Wait};
use parlour_testkit::{Agent, Bridge, Call, Mishap, Person, When, eventually, named, wait};
use proptest::prelude::*;

use crate::support::{generous, id};

const AGENTS: usize = 3;

#[derive(Clone, Debug)]
enum Act {
    /// A person says something; now and then somebody types.
    Say,
    /// An agent sends, and asks again where it got no event id.
    Send(usize),
    /// The answer to the next send is lost, after it was done or before.
    LoseAnswer(bool),
    /// An agent looks, and acknowledges the message in this place of what it was given.
    Take(usize, Option<usize>),
    Hold,
    Release,
    /// The same transaction ids again.
    ForgetTransactions,
    Restart,
    Crash,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => Just(Act::Say),
        6 => (0..AGENTS).prop_map(Act::Send),
        2 => any::<bool>().prop_map(Act::LoseAnswer),
        5 => (0..AGENTS, proptest::option::weighted(0.7, 0usize..6)).prop_map(|(a, n)| Act::Take(a, n)),
        1 => Just(Act::Hold),
        2 => Just(Act::Release),
        1 => Just(Act::ForgetTransactions),
        1 => Just(Act::Restart),
        2 => Just(Act::Crash),
    ]
}

/// What one agent has acknowledged, in the order it did.
#[derive(Default)]
struct Read {
    acknowledged: Vec<String>,
    /// Given since the last acknowledgement.
    open: BTreeSet<String>,
}

struct World {
    bridge: Bridge,
    ada: Person,
    agents: Vec<Agent>,
    reads: Vec<Read>,
    /// Texts by author; `None` are people's.
    said: BTreeMap<String, Option<usize>>,
    holding: bool,
}

impl World {
    async fn start() -> Self {
        let bridge = Bridge::with(|s| {
            generous(s);
            // the clock of this test runs fast
            s.settings.agents.idle_ms = i64::MAX / 4;
            s.settings.agents.disable_after_ms = i64::MAX / 2;
        })
        .await;
        let ada = bridge.hs.person("ada");
        ada.say(&bridge.lobby(), "before all");
        bridge.caught_up().await;
        let mut agents = vec![];
        for name in ["Robin", "Wren", "Finch"] {
            agents.push(bridge.join(name).await);
        }
        bridge.caught_up().await;
        for agent in &agents {
            let first = agent.look().await.unwrap();
            agent.ack(first.messages[0].message.event_id.as_str()).await.unwrap();
        }
        let reads = (0..AGENTS).map(|_| Read::default()).collect();
        Self { bridge, ada, agents, reads, said: BTreeMap::new(), holding: false }
    }

    async fn act(&mut self, act: &Act) {
        match act {
            Act::Say => {
                let text = format!("ada {}", self.said.len());
                self.ada.say(&self.bridge.lobby(), &text);
                self.said.insert(text, None);
            }
            Act::Send(agent) => self.send(*agent).await,
            Act::LoseAnswer(done) => {
                let when = if *done { When::After } else { When::Before };
                self.bridge.hs.next(Call::Send, Mishap::Cut(when));
            }
            Act::Take(agent, place) => self.take(*agent, *place).await,
            Act::Hold => {
                self.bridge.hs.hold_transactions().await;
                self.holding = true;
            }
            Act::Release => self.release(),
            Act::ForgetTransactions => self.bridge.hs.forget_like_a_restart(),
            Act::Restart => self.bridge.restart().await,
            Act::Crash => {
                // something is under way
                let sends = self.bridge.hs.calls(Call::Send);
                let text = format!("crashed {}", self.said.len());
                let asked = self.agents[0].send(named(&id(self.number()), &text));
                self.bridge.hs.until_called(Call::Send, sends + 1).await;
                self.bridge.crash().await;
                let _ = asked.await;
                self.bridge.boot().await;
                self.bridge.ready().await;
                self.insist(0, named(&id(self.number()), &text)).await;
                self.said.insert(text, Some(0));
            }
        }
    }

    fn number(&self) -> u32 {
        u32::try_from(self.said.len()).unwrap()
    }

    fn release(&mut self) {
        self.bridge.hs.release_transactions();
        self.holding = false;
    }

    async fn send(&mut self, agent: usize) {
        let text = format!("agent {agent} {}", self.said.len());
        self.insist(agent, named(&id(self.number()), &text)).await;
        self.said.insert(text, Some(agent));
    }

    async fn insist(&self, agent: usize, ask: Send) {
        let sent = eventually("it is sent", || async {
            let sent = self.agents[agent].send(ask.clone());
            while !sent.is_answered() {
                self.bridge.clock.advance(100);
                tokio::task::yield_now().await;
            }
            sent.await.unwrap().event_id
        });
        sent.await;
    }

    async fn take(&mut self, agent: usize, place: Option<usize>) {
        let ask = Wait { limit: Some(50), ..wait(0) };
        let inbox = self.agents[agent].wait(ask).await.unwrap();
        let read = &mut self.reads[agent];
        let texts: Vec<&str> = inbox.messages.iter().map(|m| m.message.body.text.as_str()).collect();
        for text in &texts {
            assert!(
                !read.acknowledged.iter().any(|t| t == text),
                "given again after it was acknowledged: {text}"
            );
            assert_ne!(self.said[*text], Some(agent), "its own: {text}");
        }
        assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), texts.len(), "twice in one answer");
        assert!(
            read.open.iter().all(|t| texts.contains(&t.as_str())),
            "not repeated: {:?} {texts:?}",
            read.open
        );
        read.open = texts.iter().map(|t| (*t).to_owned()).collect();
        let Some(last) = place.map(|p| p.min(texts.len().saturating_sub(1))).filter(|_| !texts.is_empty())
        else {
            return;
        };
        let acked = self.agents[agent].ack(inbox.messages[last].message.event_id.as_str()).await.unwrap();
        assert!(acked.acknowledged);
        for text in &texts[..=last] {
            read.open.remove(*text);
            read.acknowledged.push((*text).to_owned());
        }
    }

    /// Everything comes to rest; then all is told and counted.
    async fn end(mut self) {
        self.bridge.hs.recover(Call::Send);
        self.release();
        self.bridge.caught_up().await;
        for agent in 0..AGENTS {
            loop {
                self.take(agent, Some(usize::MAX)).await;
                if self.reads[agent].open.is_empty() && self.agents[agent].look().await.unwrap().pending == 0
                {
                    break;
                }
            }
            let read: BTreeSet<&String> = self.reads[agent].acknowledged.iter().collect();
            let others: BTreeSet<&String> =
                self.said.iter().filter(|(_, by)| **by != Some(agent)).map(|(text, _)| text).collect();
            assert_eq!(read, others);
            assert_eq!(self.reads[agent].acknowledged.len(), others.len());
        }
        let mut texts = self.bridge.hs.texts(&self.bridge.lobby());
        assert_eq!(texts.remove(0), "before all");
        texts.sort();
        let said: Vec<String> = self.said.into_keys().collect();
        assert_eq!(texts, said, "each once in the room");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 15, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn none_lost_and_none_twice(acts in proptest::collection::vec(act(), 15..45)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut world = World::start().await;
            for act in &acts {
                world.act(act).await;
            }
            world.end().await;
        });
    }
}
