//! What one who follows was told, and what is new to them.

use std::{collections::HashMap, sync::Arc};

use parlour_domain::ids::Seq;

use crate::view::{Line, News};

/// What came since is told message by message up to here.
const MOST_AT_ONCE: usize = 200;

/// The messages somebody knows of.
#[derive(Debug, Default)]
pub(crate) struct Told {
    known: HashMap<String, Arc<Line>>,
}

impl Told {
    /// So much has come since that whoever follows is better served by the newest.
    pub(crate) fn is_far_behind(after: Seq, lines: &[Arc<Line>]) -> bool {
        lines.iter().filter(|line| line.seq > after).count() > MOST_AT_ONCE
    }

    /// Somebody who has seen all that arrived up to `after`, but not what became of it since: what was edited is told
    /// again, and what is left is named.
    pub(crate) fn through(after: Seq, lines: &[Arc<Line>]) -> (Self, Vec<News>) {
        let had = |line: &&Arc<Line>| line.seq <= after;
        let known: HashMap<_, _> =
            lines.iter().filter(had).map(|line| (line.id.clone(), line.clone())).collect();
        let told = Self { known };
        let kept = lines.iter().filter(had).map(|line| line.id.clone()).collect();
        let mut news = vec![News::Kept(kept)];
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| had(line) && line.edited) {
            news.push(News::Changed { line: line.clone(), before: told.next_known(lines, at) });
        }
        (told, news)
    }

    /// Somebody who knows nothing: begins with the newest. Older ones count as known, or they would be told as news.
    pub(crate) fn newest(lines: &[Arc<Line>], count: usize) -> (Self, Vec<News>) {
        let older = lines.len().saturating_sub(count);
        let known = lines[..older].iter().map(|line| (line.id.clone(), line.clone())).collect();
        (Self { known }, vec![News::Reset])
    }

    /// Tells what is different now, and remembers that it was told. What is new comes by arrival.
    pub(crate) fn news(
        &mut self,
        lines: &[Arc<Line>],
        evicted_through: impl Fn(&Line) -> Seq,
        cursor: impl Fn(Seq) -> String,
    ) -> Vec<News> {
        let mut news = self.gone(lines, evicted_through);
        let mut fresh = vec![];
        for (at, line) in lines.iter().enumerate() {
            match self.known.get(&line.id) {
                Some(old) if Arc::ptr_eq(old, line) => {}
                Some(old) if **old == **line => drop(self.known.insert(line.id.clone(), line.clone())),
                Some(_) => {
                    self.known.insert(line.id.clone(), line.clone());
                    news.push(News::Changed { line: line.clone(), before: self.next_known(lines, at) });
                }
                None => fresh.push(at),
            }
        }
        fresh.sort_by_key(|at| lines[*at].seq);
        for at in fresh {
            let line = lines[at].clone();
            let before = self.next_known(lines, at);
            self.known.insert(line.id.clone(), line.clone());
            news.push(News::Added { before, cursor: cursor(line.seq), line });
        }
        news
    }

    fn gone(&mut self, lines: &[Arc<Line>], evicted_through: impl Fn(&Line) -> Seq) -> Vec<News> {
        let there: std::collections::HashSet<&str> = lines.iter().map(|l| l.id.as_str()).collect();
        let mut gone: Vec<Arc<Line>> =
            self.known.values().filter(|l| !there.contains(l.id.as_str())).cloned().collect();
        gone.sort_by_key(|line| line.seq);
        gone.iter().for_each(|line| drop(self.known.remove(&line.id)));
        let told = |line: Arc<Line>| {
            if line.seq <= evicted_through(&line) {
                News::Expired(line.id.clone())
            } else {
                News::Removed(line.id.clone())
            }
        };
        gone.into_iter().map(told).collect()
    }

    fn next_known(&self, lines: &[Arc<Line>], at: usize) -> Option<String> {
        lines[at + 1..].iter().find(|l| self.known.contains_key(&l.id)).map(|l| l.id.clone())
    }
}
