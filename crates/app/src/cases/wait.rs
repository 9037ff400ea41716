use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::{
    fault::Fault,
    gaps::hidden_before_join,
    ids::MessageRef,
    inbox::{Entry, hand_out},
    limits::{
        DEFAULT_PAGE, DEFAULT_SETTLE_S, MAX_DIGEST_MIN, MAX_PAGE, MAX_SETTLE_S, MAX_WAIT_IDS, MAX_WAIT_S,
        MIN_DIGEST_MIN,
    },
    quota::MINUTE_MS,
    wait::{Reason, State, Step, Terms, step},
    wake::{Rule, Watch},
};
use parlour_store::Tx;
use ruma::{OwnedUserId, UserId};

use crate::{
    app::App,
    caller::Caller,
    gaps::gaps,
    hub::Waiting,
    inbox::{Contents, Scope},
    live::{AgentLive, Handed},
    request::{Wait, WakeInput},
    seen::see,
    view::{Inbox, Seen},
};

impl App {
    /// Waits for messages and hands them over.
    ///
    /// # Errors
    /// `invalid_request` (its field), `room_not_joined`; `unauthorized` where the agent ends meanwhile.
    pub async fn wait(self: &Arc<Self>, caller: &Caller, ask: Wait) -> Result<Inbox, Fault> {
        self.put_back(caller).await;
        let agent = &caller.0;
        let terms = self.terms(agent, &ask)?;
        let waiting = self.hub.wait(agent.clone(), terms);
        let _present = self.manners.waits(agent.key());
        let began_ms = self.now();
        let scope = self.scope(agent, waiting.waiter.terms.room).await?;
        let opened = self.open_seats(agent, &scope).await?;
        let look = opened || waiting.waiter.terms.wait_ms == 0;
        let (reason, contents) = self.wait_for_reason(agent, &waiting, began_ms, look).await?;
        agent.called(self.now());
        self.answer(agent, &waiting.waiter.terms, reason, look, &contents).await
    }

    async fn wait_for_reason(
        &self,
        agent: &AgentLive,
        waiting: &Waiting,
        began_ms: i64,
        look: bool,
    ) -> Result<(Reason, Contents), Fault> {
        let waiter = &waiting.waiter;
        let mut terms = waiter.terms.clone();
        loop {
            if agent.ended() {
                return Err(Fault::unauthorized());
            }
            if self.tasks.stopping() {
                // what has been triggered is given, as at the deadline
                terms.wait_ms = 0;
            }
            let scope = self.scope(agent, terms.room).await?;
            let contents = self.contents(agent, scope, &terms.watch);
            match self.decide(&terms, waiting, &contents.entries, began_ms, look) {
                Step::Answer(reason) => return Ok((reason, contents)),
                Step::Sleep { until_ms } => self.sleep(waiting, &contents.entries, until_ms).await,
            }
        }
    }

    fn decide(&self, terms: &Terms, waiting: &Waiting, entries: &[Entry], began_ms: i64, look: bool) -> Step {
        let state = State {
            now_ms: self.now(),
            began_ms,
            entries,
            typing: &self.typing.read(),
            look,
            superseded: waiting.waiter.superseded(),
            admitted: waiting.waiter.admitted(),
            knocks: self.doors.untold(Some(waiting.waiter.agent.key()), terms.room, self.now())
                || self.untold_visitors(&waiting.waiter.agent, terms.room),
        };
        step(terms, &state)
    }

    async fn sleep(&self, waiting: &Waiting, entries: &[Entry], until_ms: i64) {
        if entries.iter().any(|e| e.wakes || e.awaited) {
            waiting.waiter.stirred();
        }
        tokio::select! {
            () = waiting.waiter.woken() => {}
            () = self.clock.sleep_until(until_ms) => {}
            () = self.tasks.stopped() => {}
        }
    }

    /// Rooms that no wait has covered since the agent entered them: their newest messages become context.
    async fn open_seats(&self, agent: &Arc<AgentLive>, scope: &Scope) -> Result<bool, Fault> {
        let mut opened = false;
        for (seat, room) in scope.iter().filter(|(seat, _)| seat.present() && !seat.opened) {
            let mut seat = seat.clone();
            let hides = room.with_log(|log| {
                seat.open(log.by_arrival().map(|m| &**m), agent.user_id());
                let log_of = log.by_arrival().map(|m| &**m);
                hidden_before_join(&seat, log_of, log.unread(), log.sealed_gone())
            });
            let (key, room, context) = (agent.key(), room.key, seat.context);
            let live = agent.clone();
            let write = move |tx: &Tx<'_>| tx.seat_opened(key, room, context, hides);
            self.write_and_follow(write, move |_, ()| live.opened(room, context, hides)).await?;
            opened = true;
        }
        Ok(opened)
    }

    async fn answer(
        &self,
        agent: &AgentLive,
        terms: &Terms,
        reason: Reason,
        look: bool,
        contents: &Contents,
    ) -> Result<Inbox, Fault> {
        let Contents { scope, entries, .. } = contents;
        let handout = hand_out(terms, reason, look, entries);
        let incoming_knocks = match reason {
            Reason::Superseded | Reason::Admitted => vec![],
            _ => self.tell_knocks(agent, terms.room).await?,
        };
        let given: Vec<&Entry> = handout.given.iter().map(|&i| &entries[i]).collect();
        if !given.is_empty() {
            agent.hands_over(given.iter().copied().map(handed).collect());
        }
        self.note_woken(agent, &given);
        let woke = given.iter().copied().filter(|e| e.wakes || e.awaited);
        let kind = |e: &Entry| self.rooms.get(e.message.room).map(|room| room.kind());
        let is_meant = |e: &Entry| kind(e).is_some_and(|kind| e.message.mentions(agent.user_id(), kind));
        self.manners.gave(agent.key(), woke, is_meant);
        Ok(Inbox {
            messages: given.iter().filter_map(|e| seen(agent, scope, e)).collect(),
            pending: entries.len(),
            dropped: self.dropped(agent, contents).await?,
            skipped: handout.skipped,
            remaining: handout.remaining,
            reason,
            event_ids: handout.woke.iter().map(|&i| entries[i].message.event_id.clone()).collect(),
            missing: handout.missing.into_iter().collect(),
            gaps: gaps(agent, scope, &given),
            incoming_knocks,
        })
    }

    fn terms(&self, agent: &AgentLive, ask: &Wait) -> Result<Terms, Fault> {
        mentions_only_alone(ask)?;
        let room = ask.room_id.as_deref().map(|r| self.my_room(agent, Some(r))).transpose()?;
        let rule = if ask.mentions_only { Rule::Mentions } else { rule(ask.wake) };
        Ok(Terms {
            wait_ms: 1_000 * clamped(ask.wait, MAX_WAIT_S, MAX_WAIT_S),
            limit: usize::try_from(clamped(ask.limit, DEFAULT_PAGE as u64, MAX_PAGE as u64))
                .map_or(1, |l| l.max(1)),
            settle_ms: 1_000
                * in_range("settle", ask.settle, 0, MAX_SETTLE_S, "seconds")?
                    .unwrap_or(DEFAULT_SETTLE_S as i64),
            digest_ms: in_range("digest", ask.digest, MIN_DIGEST_MIN, MAX_DIGEST_MIN, "minutes")?
                .map(|m| m * MINUTE_MS),
            watch: Watch {
                rule,
                from: users("from", &ask.from)?,
                wait_for: wait_for(agent, &ask.wait_for)?,
                reply_to: ask.reply_to.as_deref().map(reply_to).transpose()?,
            },
            mentions_only: ask.mentions_only,
            room: room.map(|(seat, _)| seat.room),
        })
    }
}

fn handed(entry: &Entry) -> Handed {
    let Entry { message, arrival, .. } = entry;
    Handed { event_id: message.event_id.clone(), room: message.room, arrival: *arrival }
}

fn seen(agent: &AgentLive, scope: &Scope, entry: &Entry) -> Option<Seen> {
    let (seat, room) = scope.iter().find(|(seat, _)| seat.room == entry.message.room)?;
    see(agent, seat, room, &entry.message)
}

fn rule(wake: Option<WakeInput>) -> Rule {
    match wake {
        None | Some(WakeInput::Related) => Rule::Related,
        Some(WakeInput::Mentions) => Rule::Mentions,
        Some(WakeInput::All) => Rule::All,
    }
}

fn mentions_only_alone(ask: &Wait) -> Result<(), Fault> {
    let other_wake = ask.wake.is_some_and(|w| w != WakeInput::Mentions);
    let others =
        !ask.from.is_empty() || !ask.wait_for.is_empty() || ask.reply_to.is_some() || ask.digest.is_some();
    if ask.mentions_only && (other_wake || others) {
        return Err(Fault::invalid(
            "mentionsOnly",
            "mentionsOnly stands alone: leave out from, waitFor, replyTo, digest, and any wake but mentions.",
        ));
    }
    Ok(())
}

/// Above the maximum is the maximum.
fn clamped(value: Option<u64>, default: u64, max: u64) -> i64 {
    i64::try_from(value.unwrap_or(default).min(max)).unwrap_or(0)
}

fn in_range(field: &str, value: Option<u64>, min: u64, max: u64, unit: &str) -> Result<Option<i64>, Fault> {
    match value {
        Some(value) if !(min..=max).contains(&value) => {
            Err(Fault::invalid(field, format!("{field} goes from {min} to {max} {unit}.")))
        }
        value => Ok(value.and_then(|v| i64::try_from(v).ok())),
    }
}

fn users(field: &str, ids: &[String]) -> Result<BTreeSet<OwnedUserId>, Fault> {
    if ids.len() > MAX_WAIT_IDS {
        return Err(Fault::too_many_ids(field, MAX_WAIT_IDS));
    }
    let user = |id: &String| {
        let wrong = || {
            Fault::invalid(
                field,
                format!("{field} takes Matrix user ids such as @ada:example.org, from messages' actor."),
            )
        };
        UserId::parse(id).map_err(|_| wrong())
    };
    ids.iter().map(user).collect()
}

fn wait_for(agent: &AgentLive, ids: &[String]) -> Result<BTreeSet<OwnedUserId>, Fault> {
    let mut named = match ids {
        [word] if word == "mentioned" => agent.last_mentions().into_iter().collect(),
        ids => users("waitFor", ids)?,
    };
    named.remove(agent.user_id());
    if named.is_empty() && !ids.is_empty() {
        return Err(Fault::invalid(
            "waitFor",
            "There is nobody to wait for: your last message mentioned no one. Name them by Matrix user id.",
        ));
    }
    Ok(named)
}

fn reply_to(text: &str) -> Result<MessageRef, Fault> {
    MessageRef::parse(text)
        .ok_or_else(|| Fault::invalid("replyTo", "replyTo takes a messageId or an eventId."))
}
