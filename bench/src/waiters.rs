//! Many agents, each in a long poll all the time, and when each of them got which message.
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinSet,
    time::timeout_at,
};

use crate::{
    api::{Agent, Api, event_ids, markers},
    clock::{ms_between, now, pause},
};

/// Everything wakes, at once: what is measured is the bridge and not its manners.
const QUERY: &str = "wait=30&settle=0&wake=all&limit=50";

/// A running set of waiters; dropping it ends their polls.
pub(crate) struct Waiters {
    arrivals: UnboundedReceiver<Arrival>,
    polls: Arc<Polls>,
    count: usize,
    _tasks: JoinSet<()>,
}

/// How many polls were answered, and how many failed.
#[derive(Default)]
pub(crate) struct Polls {
    pub(crate) answered: AtomicUsize,
    pub(crate) failed: AtomicUsize,
}

struct Arrival {
    waiter: usize,
    marker: String,
    at: Instant,
}

impl Waiters {
    /// Starts one loop per agent, and gives them time to arrive: nobody outside can see when a poll is in place.
    pub(crate) async fn start(api: &Api, agents: &[Agent]) -> Self {
        let waiters = Self::begin(api, agents);
        pause(1000 + 4 * agents.len() as u64).await;
        waiters
    }

    /// One that may come later than what it waits for.
    pub(crate) fn at_once(api: &Api, agent: &Agent) -> Self {
        Self::begin(api, std::slice::from_ref(agent))
    }

    fn begin(api: &Api, agents: &[Agent]) -> Self {
        let (tell, arrivals) = unbounded_channel();
        let (polls, mut tasks) = (Arc::<Polls>::default(), JoinSet::new());
        for (waiter, agent) in agents.iter().cloned().enumerate() {
            tasks.spawn(poll_for_ever(waiter, agent, api.clone(), tell.clone(), polls.clone()));
        }
        Self { arrivals, polls, count: agents.len(), _tasks: tasks }
    }

    pub(crate) fn answered(&self) -> usize {
        self.polls.answered.load(Ordering::Relaxed)
    }

    pub(crate) fn failed(&self) -> usize {
        self.polls.failed.load(Ordering::Relaxed)
    }

    /// When each waiter got `marker`, in ms after `start`, sorted; short where some did not get it in time.
    pub(crate) async fn collect(&mut self, marker: &str, start: Instant, within: Duration) -> Vec<f64> {
        let end = tokio::time::Instant::from_std(now() + within);
        let mut got = HashMap::new();
        while got.len() < self.count {
            let Ok(Some(arrival)) = timeout_at(end, self.arrivals.recv()).await else { break };
            if arrival.marker == marker {
                got.entry(arrival.waiter).or_insert(ms_between(start, arrival.at));
            }
        }
        let mut sorted: Vec<f64> = got.into_values().collect();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

async fn poll_for_ever(
    waiter: usize,
    agent: Agent,
    api: Api,
    tell: UnboundedSender<Arrival>,
    polls: Arc<Polls>,
) {
    loop {
        let Ok(answer) = api.wait(&agent, QUERY).await else {
            polls.failed.fetch_add(1, Ordering::Relaxed);
            pause(300).await;
            continue;
        };
        polls.answered.fetch_add(1, Ordering::Relaxed);
        for marker in markers(&answer.body) {
            let _ = tell.send(Arrival { waiter, marker, at: answer.at });
        }
        acknowledge(&api, &agent, &event_ids(&answer.body), &polls).await;
    }
}

/// Without it the next poll would return at once with the same message.
async fn acknowledge(api: &Api, agent: &Agent, ids: &[String], polls: &Polls) {
    let Some(last) = ids.last() else { return };
    if api.ack(agent, last).await.is_err() {
        polls.failed.fetch_add(1, Ordering::Relaxed);
    }
}
