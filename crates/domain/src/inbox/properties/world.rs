//! The room, its agents and the time: what the store, the wait hub and the ingest do, as simply as it can be said.

use std::collections::{HashMap, VecDeque};

use super::{super::*, Op, believed::Believed, judge, user};
use crate::{
    ids::Pos,
    limits::CONTEXT_MESSAGES,
    message::samples::said,
    room::RoomKind,
    typing::TypingBoard,
    visibility::{Membership, Period, Visibility},
    wait::{State, Step, step},
    wake::Rule,
};

pub(super) const EVERYBODY: [&str; 5] = ["@agent_a:x", "@agent_b:x", "@agent_c:x", "@ada:x", "@bob:x"];
/// The first of everybody.
pub(super) const AGENTS: usize = 3;
const KEPT: usize = 30;
const HERE: RoomKey = RoomKey(1);

pub(super) struct World {
    now_ms: i64,
    last: (Seq, Pos),
    /// By arrival.
    log: VecDeque<Arc<Message>>,
    /// Who was in when the message at this place was said.
    attendance: HashMap<Pos, [bool; AGENTS]>,
    typing: TypingBoard,
    typists: Vec<OwnedUserId>,
    pub(super) agents: Vec<Agent>,
}

#[derive(Default)]
pub(super) struct Agent {
    seat: Option<Seat>,
    running: Option<Running>,
    /// What a loop of this agent waits with.
    terms: Option<Terms>,
    last_given: Option<Seq>,
    pub(super) believed: Believed,
}

struct Running {
    terms: Terms,
    began_ms: i64,
    look: bool,
    until_ms: i64,
}

/// Why a running wait is decided again.
#[derive(Clone, Copy, Default)]
struct News {
    superseded: bool,
    admitted: bool,
    knocks: bool,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            now_ms: 1_000_000,
            last: (Seq(0), Pos(0)),
            log: VecDeque::new(),
            attendance: HashMap::new(),
            typing: TypingBoard::default(),
            typists: vec![],
            agents: std::iter::repeat_with(Agent::default).take(AGENTS).collect(),
        }
    }

    pub(super) fn apply(&mut self, op: Op) {
        match op {
            Op::Say { by, to, reply, hidden, elsewhere } => self.say(by, to, reply, hidden, elsewhere),
            Op::SayLate { by, after } => self.say_late(by, after),
            Op::Type { by, on } => self.types(by, on),
            Op::Pass { ms } => self.pass(ms),
            Op::Wait { agent, terms } => self.wait(agent, terms),
            Op::AckLast { agent } => self.ack_last(agent),
            Op::AckAny { agent, at, room } => self.ack_any(agent, at, room),
            // the diligent agent acknowledges what it was given, and nothing else
            Op::AckElsewhere { agent } if agent > 0 => {
                self.ack(agent, Ack { up_to: self.last.0, room: None })
            }
            Op::AckElsewhere { .. } => {}
            Op::Enter { agent } => self.enter(agent),
            Op::Leave { agent } => self.leave(agent),
            Op::Knock { agent } => self.decide(agent, News { knocks: true, ..News::default() }),
            Op::Admit { agent } => self.decide(agent, News { admitted: true, ..News::default() }),
            Op::Restart => self.restart(),
        }
    }

    /// Gives agent 0 the time to be handed all that is left.
    pub(super) fn drain(&mut self) {
        let watch = Watch { rule: Rule::All, ..Watch::default() };
        let (wait_ms, limit, settle_ms, digest_ms) = (30_000, 7, 5_000, None);
        let terms = Terms { wait_ms, limit, settle_ms, digest_ms, watch, mentions_only: false, room: None };
        self.wait(0, terms);
        self.pass(100_000);
    }

    fn message(&self, by: usize, seq: Seq, pos: Pos) -> Message {
        let received_at_ms = self.now_ms;
        Message { seq, pos, received_at_ms, ..said(seq.0, EVERYBODY[by]) }
    }

    fn say(&mut self, by: usize, to: Option<usize>, reply: Option<usize>, hidden: bool, elsewhere: i64) {
        if by < AGENTS && !self.agents[by].believed.inside {
            return;
        }
        self.last = (Seq(self.last.0.0 + 1 + elsewhere), Pos(self.last.1.0 + Pos::STEP));
        let mut message = self.message(by, self.last.0, self.last.1);
        message.body.mentions = to.map(user).into_iter().collect();
        message.visibility = if hidden { Visibility::Joined } else { Visibility::Shared };
        if let Some(target) = reply.and_then(|r| self.log.get(r)) {
            message = message.replying(target.seq.0, target.sender.as_str());
        }
        let inside = std::array::from_fn(|i| self.agents[i].believed.inside);
        self.attendance.insert(message.pos, inside);
        self.typing.spoke(HERE, &message.sender, self.now_ms);
        self.append(message);
    }

    fn say_late(&mut self, by: usize, after: usize) {
        let Some(earlier) = self.log.get(after).map(|m| m.pos) else { return };
        let pos = Pos(earlier.0 + 1);
        if self.attendance.contains_key(&pos) {
            return;
        }
        self.last.0.0 += 1;
        self.attendance.insert(pos, self.attendance[&earlier]);
        self.append(self.message(by, self.last.0, pos));
    }

    fn append(&mut self, message: Message) {
        for (i, agent) in self.agents.iter_mut().enumerate() {
            if self.attendance[&message.pos][i] && message.sender != user(i) {
                agent.believed.owed.insert(message.seq);
            }
        }
        self.log.push_back(Arc::new(message));
        self.evict();
        self.decide_all(News::default());
    }

    fn evict(&mut self) {
        let Some(old) = (self.log.len() > KEPT).then(|| self.log.pop_front()).flatten() else { return };
        for (i, agent) in self.agents.iter_mut().enumerate() {
            let held = agent.seat.as_ref().is_some_and(|s| s.holds(&old, &user(i)));
            assert_eq!(held, agent.believed.evict(old.seq), "counted as dropped");
        }
    }

    fn types(&mut self, by: usize, on: bool) {
        self.typists.retain(|u| *u != user(by));
        if on {
            self.typists.push(user(by));
        }
        self.typing.update(HERE, &self.typists, self.now_ms);
        self.decide_all(News::default());
    }

    /// Time goes on from timer to timer.
    fn pass(&mut self, ms: i64) {
        let end = self.now_ms + ms;
        for _ in 0..5_000 {
            let due = (0..AGENTS).filter_map(|i| Some((self.agents[i].running.as_ref()?.until_ms, i))).min();
            let Some((until_ms, agent)) = due.filter(|(until_ms, _)| *until_ms <= end) else {
                self.now_ms = end;
                return;
            };
            self.now_ms = until_ms;
            self.decide(agent, News::default());
        }
        panic!("a busy loop");
    }

    /// Agent 0 waits for all that is said, whatever it is told to.
    fn wait(&mut self, i: usize, mut terms: Terms) {
        self.decide(i, News { superseded: true, ..News::default() });
        if i == 0 {
            terms.watch = Watch { rule: Rule::All, ..Watch::default() };
            terms.mentions_only = false;
            terms.wait_ms = terms.wait_ms.max(1_000);
            self.agents[0].terms = Some(terms.clone());
        }
        let look = self.open(i) || terms.wait_ms == 0;
        let (began_ms, until_ms) = (self.now_ms, self.now_ms);
        self.agents[i].running = Some(Running { terms, began_ms, look, until_ms });
        self.decide(i, News::default());
    }

    /// Whether it is the first wait since the entry.
    fn open(&mut self, i: usize) -> bool {
        let me = user(i);
        let Agent { seat: Some(seat), believed, .. } = &mut self.agents[i] else { return false };
        if seat.opened || !believed.inside {
            return false;
        }
        let seen = |m: &&Arc<Message>| m.visibility == Visibility::Shared || believed.owed.contains(&m.seq);
        let from_others = self.log.iter().rev().filter(|m| m.sender != me);
        let newest: Vec<Seq> = from_others.filter(seen).map(|m| m.seq).take(CONTEXT_MESSAGES).collect();
        believed.open(newest.into_iter());
        seat.open(self.log.iter().map(|m| &**m), &me);
        true
    }

    fn entries(&self, i: usize, watch: &Watch) -> Vec<Entry> {
        let (me, setting) = (user(i), Setting { kind: RoomKind::Lobby, of_two: false, max_hops: 8 });
        let Some(seat) = &self.agents[i].seat else { return vec![] };
        let held = self.log.iter().filter(|m| seat.holds(m, &me));
        let entries: Vec<Entry> = held.map(|m| Entry::new(m.clone(), seat, watch, &me, setting)).collect();
        let believed = &self.agents[i].believed;
        let seqs: BTreeSet<Seq> = entries.iter().map(|e| e.message.seq).collect();
        assert_eq!(seqs, believed.pending(), "agent {i}'s inbox");
        let live = |e: &Entry| believed.owed.contains(&e.message.seq);
        assert!(entries.iter().all(|e| live(e) || !(e.wakes || e.awaited)), "context never wakes");
        assert!(entries.iter().all(|e| e.message.seq > seat.read_after()));
        entries
    }

    fn decide_all(&mut self, news: News) {
        (0..AGENTS).for_each(|i| self.decide(i, news));
    }

    fn decide(&mut self, i: usize, News { superseded, admitted, knocks }: News) {
        let Some(running) = self.agents[i].running.take() else { return };
        let Running { ref terms, began_ms, look, .. } = running;
        let entries = self.entries(i, &terms.watch);
        let (now_ms, typing) = (self.now_ms, &self.typing);
        let state = State { now_ms, began_ms, entries: &entries, typing, look, superseded, admitted, knocks };
        match step(terms, &state) {
            Step::Sleep { until_ms } => {
                judge::sleep(terms, &state, until_ms);
                self.agents[i].running = Some(Running { until_ms, ..running });
            }
            Step::Answer(reason) => {
                let handout = hand_out(terms, reason, look, &entries);
                judge::answer(terms, &state, reason, &handout);
                self.answered(i, handout.given.iter().map(|&g| entries[g].message.seq).collect(), superseded);
            }
        }
    }

    fn answered(&mut self, i: usize, given: Vec<Seq>, superseded: bool) {
        let agent = &mut self.agents[i];
        agent.last_given = given.last().copied().or(agent.last_given);
        agent.believed.given.extend(given);
        if let Some(terms) = agent.terms.clone().filter(|_| !superseded) {
            self.ack_last(i);
            self.wait(i, terms);
        }
    }

    fn ack_last(&mut self, i: usize) {
        let last = self.agents[i].last_given;
        if let Some(at) = self.log.iter().position(|m| Some(m.seq) == last) {
            self.ack_message(i, at, None);
        }
    }

    fn ack_any(&mut self, i: usize, at: usize, room: Option<RoomKey>) {
        if i > 0 && at < self.log.len() {
            self.ack_message(i, at, room);
        }
    }

    fn ack_message(&mut self, i: usize, at: usize, room: Option<RoomKey>) {
        let Some(seat) = &self.agents[i].seat else { return };
        let ack = acknowledge(&self.log[at], seat, room, &user(i));
        let due = room != Some(RoomKey(2)) && self.agents[i].believed.pending().contains(&self.log[at].seq);
        assert_eq!(ack.is_some(), due, "acknowledged: what is in the inbox and nothing else");
        if let Some(ack) = ack {
            self.ack(i, ack);
        }
    }

    fn ack(&mut self, i: usize, ack: Ack) {
        let Agent { seat: Some(seat), believed, .. } = &mut self.agents[i] else { return };
        let before = seat.clone();
        ack.apply(seat);
        assert!(
            seat.acked >= before.acked && seat.read_after() >= before.read_after(),
            "cursors never go back"
        );
        believed.acknowledge(ack.up_to);
    }

    /// After the last message and what may still come to stand behind it.
    fn here(&self) -> Pos {
        Pos(self.last.1.0 + Pos::STEP / 2)
    }

    fn enter(&mut self, i: usize) {
        let joined = Period { membership: Membership::Joined, after: self.here(), until: None };
        let agent = &mut self.agents[i];
        if std::mem::replace(&mut agent.believed.inside, true) {
            return;
        }
        match &mut agent.seat {
            None => agent.seat = Some(Seat::new(HERE, joined)),
            Some(seat) => {
                seat.periods.push(joined);
                seat.opened = false;
            }
        }
        self.decide(i, News::default());
    }

    fn leave(&mut self, i: usize) {
        let here = self.here();
        let Agent { seat: Some(seat), believed, .. } = &mut self.agents[i] else { return };
        if std::mem::take(&mut believed.inside) {
            seat.periods.last_mut().unwrap().until = Some(here);
        }
        self.decide(i, News::default());
    }

    /// Waits, timers and typing are gone; the log and the seats are not. Agent 0 comes back by itself.
    fn restart(&mut self) {
        self.decide_all(News { superseded: true, ..News::default() });
        (self.typing, self.typists) = (TypingBoard::default(), vec![]);
        if let Some(terms) = self.agents[0].terms.clone() {
            self.wait(0, terms);
        }
    }
}
