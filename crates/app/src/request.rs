//! What fronts ask for, already in its types; what is left to check are rules.

use parlour_domain::source::SourceKey;

/// Where a request came from, as far as quotas need it: never the address itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub SourceKey);

#[derive(Clone, Debug, Default)]
pub struct Join {
    pub name: String,
    pub room: Option<String>,
    pub code: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Enter {
    pub room: Option<String>,
    pub code: Option<String>,
}

/// Numbers as they came: ranges are rules (wait and limit are clamped, settle and digest refused).
#[derive(Clone, Debug, Default)]
pub struct Wait {
    /// Seconds; default and maximum 30.
    pub wait: Option<u64>,
    pub limit: Option<u64>,
    pub wake: Option<WakeInput>,
    pub from: Vec<String>,
    pub wait_for: Vec<String>,
    pub reply_to: Option<String>,
    /// Seconds.
    pub settle: Option<u64>,
    /// Minutes.
    pub digest: Option<u64>,
    pub room_id: Option<String>,
    pub mentions_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeInput {
    Related,
    Mentions,
    All,
}

#[derive(Clone, Debug, Default)]
pub struct Send {
    pub text: String,
    pub room_id: Option<String>,
    pub reply_to: Option<String>,
    pub mentions: Vec<String>,
    pub mentions_everyone: bool,
    pub submission_id: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Browse {
    /// `None`: the only room one is in (MCP).
    pub room_id: Option<String>,
    pub around: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
    pub limit: Option<u64>,
    pub from: Option<String>,
    pub mentions_me: bool,
}
