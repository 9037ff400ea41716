//! Knocking on the door of a private room (wire contract, section 6): who is let in at once, who waits and for how long,
//! and what an answer means later. Nothing here keeps state; what was decided before comes in as a [`Standing`].

use crate::{limits::KNOCK_LIFE_MS, quota::RetryAfter};

/// The last knock of one agent on one door, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knock {
    /// UTC milliseconds; also its place in the queue, earliest first.
    pub at_ms: i64,
    pub answer: Answer,
}

/// What the room's owner made of a knock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    None,
    Admitted,
    /// For good: nobody is told when it knocks again.
    Declined,
}

/// Where a knock stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Waiting,
    Admitted,
    Declined,
    /// Nobody answered within the hour. Knocking again begins anew.
    Expired,
}

impl Answer {
    const ALL: [Self; 3] = [Self::None, Self::Admitted, Self::Declined];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Admitted => "admitted",
            Self::Declined => "declined",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.as_str() == text)
    }
}

impl Knock {
    /// One that has just come.
    #[must_use]
    pub fn new(now_ms: i64) -> Self {
        Self { at_ms: now_ms, answer: Answer::None }
    }

    /// From when on it is nobody's to answer any more, UTC milliseconds.
    #[must_use]
    pub fn expires_at_ms(self) -> i64 {
        self.at_ms.saturating_add(KNOCK_LIFE_MS)
    }

    #[must_use]
    pub fn status(self, now_ms: i64) -> Status {
        match self.answer {
            Answer::Admitted => Status::Admitted,
            Answer::Declined => Status::Declined,
            Answer::None if now_ms < self.expires_at_ms() => Status::Waiting,
            Answer::None => Status::Expired,
        }
    }

    #[must_use]
    pub fn waits(self, now_ms: i64) -> bool {
        self.status(now_ms) == Status::Waiting
    }
}

/// How an agent came into a private room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Made it.
    Owner,
    Code,
    Knock,
    /// A person invited its puppet.
    Invite,
}

impl Way {
    const ALL: [Self; 4] = [Self::Owner, Self::Code, Self::Knock, Self::Invite];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Code => "code",
            Self::Knock => "knock",
            Self::Invite => "invite",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|w| w.as_str() == text)
    }

    /// The owner may remove those that came by what the owner gave out, and nobody else.
    #[must_use]
    pub fn may_be_removed(self) -> bool {
        matches!(self, Self::Code | Self::Knock)
    }
}

/// That an agent was let in, and whether it still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    pub way: Way,
    /// Removed since: the number that the room's code had then. Codes are numbered in the order they were made, so
    /// that a step of the clock cannot make an old one new.
    pub removed_at_code: Option<i64>,
}

impl Pass {
    #[must_use]
    pub fn holds(self) -> bool {
        self.removed_at_code.is_none()
    }
}

/// Whether a room's code, the `number`th, opens it for somebody with this pass: one that was removed needs a code that
/// was made since.
#[must_use]
pub fn code_opens(pass: Option<Pass>, number: i64) -> bool {
    pass.and_then(|p| p.removed_at_code).is_none_or(|removed| number > removed)
}

/// All that a knock is judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    pub pass: Option<Pass>,
    pub knock: Option<Knock>,
}

/// What comes of knocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Was let in before, and not removed: in again, without asking.
    Enter,
    /// Stands before the door; `news` where the owner has to be told.
    Waits { knock: Knock, news: bool },
    /// Turned away before. The owner hears nothing.
    Declined(Knock),
    /// Too many stand before the door.
    Full(RetryAfter),
}

/// Decides a knock. `others` are the knocks of others that wait at the same door, `places` how many may.
#[must_use]
pub fn knock(standing: Standing, others: &[Knock], places: u32, now_ms: i64) -> Outcome {
    if standing.pass.is_some_and(Pass::holds) {
        return Outcome::Enter;
    }
    if let Some(declined) = standing.knock.filter(|k| k.answer == Answer::Declined) {
        return Outcome::Declined(declined);
    }
    let waiting = || others.iter().filter(|k| k.waits(now_ms));
    if waiting().count() >= places as usize {
        let oldest =
            waiting().map(|k| k.expires_at_ms()).min().unwrap_or(now_ms.saturating_add(KNOCK_LIFE_MS));
        return Outcome::Full(RetryAfter::until(oldest, now_ms));
    }
    // it waits already: the same knock, at the back of the queue
    let news = !standing.knock.is_some_and(|k| k.waits(now_ms));
    Outcome::Waits { knock: Knock::new(now_ms), news }
}

/// Who waits at a door, in the order of the queue.
pub fn queue<T>(knocks: impl IntoIterator<Item = (T, Knock)>, now_ms: i64) -> Vec<(T, Knock)>
where
    T: Ord,
{
    let mut waiting: Vec<(T, Knock)> = knocks.into_iter().filter(|(_, k)| k.waits(now_ms)).collect();
    waiting.sort_by(|a, b| (a.1.at_ms, &a.0).cmp(&(b.1.at_ms, &b.0)));
    waiting
}

#[cfg(test)]
mod tests;
