//! What people see of agents besides their words. Use cases only note what happened ([`Manners::tell`]); one task shows
//! it, one thing at a time and at a pace, so that nothing an agent does ever waits for it. In memory only: what is lost
//! is decoration.

mod board;
mod deeds;
mod present;
mod run;

use std::collections::VecDeque;

use parking_lot::Mutex;
use parlour_domain::{
    ids::{AgentKey, RoomKey},
    inbox::{Ack, Entry},
};
use tokio::sync::Notify;

/// Notes that wait to be worked off; what is more is dropped.
const MOST_NEWS: usize = 4_096;

/// Which of it the operator wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    pub presence: bool,
    pub receipts: bool,
    pub typing: bool,
    /// A picture, and a profile that says what they are.
    pub profiles: bool,
}

/// Something that may show.
#[derive(Clone, Debug)]
pub(crate) enum News {
    Waits(AgentKey),
    Rests(AgentKey),
    /// Messages that woke it were handed over; of each, its room and whether it is meant by name or by reply.
    Given(AgentKey, Vec<(RoomKey, bool)>),
    Acknowledged(AgentKey, Ack),
    Spoke(AgentKey, RoomKey),
    Ended(AgentKey),
}

/// From the use cases to the task that shows.
#[derive(Debug)]
pub(crate) struct Manners {
    shown: Shown,
    news: Mutex<VecDeque<News>>,
    told: Notify,
}

impl Manners {
    pub(crate) fn new(shown: Shown) -> Self {
        Self { shown, news: Mutex::default(), told: Notify::new() }
    }

    fn is_wanted(&self, news: &News) -> bool {
        let Shown { presence, receipts, typing, .. } = self.shown;
        match news {
            News::Waits(_) | News::Rests(_) => presence,
            News::Spoke(..) => typing,
            News::Acknowledged(..) | News::Given(..) => receipts || typing,
            News::Ended(_) => presence || receipts || typing,
        }
    }

    /// Never waits.
    pub(crate) fn tell(&self, news: News) {
        self.note(news);
    }

    /// Whether it is noted. That somebody rests or ended always is: else it would be shown as online for ever.
    fn note(&self, news: News) -> bool {
        if !self.is_wanted(&news) {
            return false;
        }
        let mut all = self.news.lock();
        if all.len() >= MOST_NEWS && !matches!(news, News::Rests(_) | News::Ended(_)) {
            dropped("news");
            return false;
        }
        all.push_back(news);
        drop(all);
        self.told.notify_one();
        true
    }

    /// The agent waits until the answer is dropped.
    pub(crate) fn waits(&self, agent: AgentKey) -> Option<Present<'_>> {
        self.note(News::Waits(agent)).then(|| Present(self, agent))
    }

    /// What was handed over of what woke an agent.
    pub(crate) fn gave<'a>(
        &self,
        agent: AgentKey,
        woke: impl Iterator<Item = &'a Entry>,
        is_meant: impl Fn(&Entry) -> bool,
    ) {
        let given: Vec<_> = woke.map(|e| (e.message.room, is_meant(e))).collect();
        if !given.is_empty() {
            self.tell(News::Given(agent, given));
        }
    }

    fn take(&self) -> VecDeque<News> {
        std::mem::take(&mut *self.news.lock())
    }
}

/// A running wait, for [`Manners`].
#[derive(Debug)]
pub(crate) struct Present<'a>(&'a Manners, AgentKey);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.tell(News::Rests(self.1));
    }
}

fn dropped(kind: &'static str) {
    metrics::counter!("parlour_manners_dropped_total", "kind" => kind).increment(1);
}
