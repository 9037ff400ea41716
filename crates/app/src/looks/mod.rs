//! Puppets and the bot are given a picture, and a profile that says what they are: once each, in the background, some
//! seconds after they have come in. An agent's first minute is not the time to cost it anything.

mod dress;
mod png;
mod round;

use std::sync::Arc;

use parlour_domain::ids::AgentKey;
use parlour_matrix::HsError;
use parlour_store::{Look, Plain, StoreError, Tx};

use self::round::Round;
use crate::app::App;

/// So long after somebody came they are dressed, and so long after another one.
const AFTER_MS: i64 = 3_000;
const APART_MS: i64 = 500;
const FIRST_PAUSE_MS: i64 = 5_000;
const LONGEST_PAUSE_MS: i64 = 10 * 60_000;

/// The bot comes before all agents.
const BOT: AgentKey = AgentKey(0);
/// What the bot has, among the store's small facts.
const BOT_PICTURE: &str = "bot_picture";

/// Why somebody was not dressed.
#[derive(Debug, thiserror::Error)]
enum NotDressed {
    #[error(transparent)]
    Homeserver(#[from] HsError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the picture cannot be drawn: {0}")]
    Drawing(#[from] ::png::EncodingError),
}

/// Both rounds, and the patience with a homeserver that does not answer.
struct Wardrobe {
    rounds: [(Look, Round); 2],
    pause_ms: i64,
}

impl App {
    pub(crate) fn start_dressing(self: &Arc<Self>) {
        if !self.settings.people.shown.profiles {
            return;
        }
        let app = self.clone();
        self.tasks.spawn(async move {
            let mut wardrobe = Wardrobe::new();
            // the bridge is ready
            app.somebody_comes(None).await;
            while !app.tasks.stopping() {
                match app.dress_next(&mut wardrobe).await {
                    Some(rest_ms) => drop(app.let_pass(rest_ms).await),
                    None => app.somebody_comes(wardrobe.again_at()).await,
                }
            }
        });
    }

    /// Until then, or until some seconds after there is somebody new.
    async fn somebody_comes(&self, until_ms: Option<i64>) {
        if self.until_told(&self.undressed, until_ms).await {
            self.let_pass(AFTER_MS).await;
        }
    }

    /// How long to rest after it, in milliseconds; `None`: there is nobody left.
    async fn dress_next(&self, wardrobe: &mut Wardrobe) -> Option<i64> {
        for (look, round) in &mut wardrobe.rounds {
            match self.go_round(*look, round).await {
                Ok(false) => {}
                Ok(true) => {
                    wardrobe.pause_ms = FIRST_PAUSE_MS;
                    return Some(APART_MS);
                }
                Err(error) => {
                    tracing::info!(%error, "a profile of ours cannot be set yet");
                    return Some(wardrobe.wait_for(&error));
                }
            }
        }
        None
    }

    /// One more of this round; `false`: it is over, or not to be gone now.
    async fn go_round(&self, look: Look, round: &mut Round) -> Result<bool, NotDressed> {
        let Some(after) = round.after(self.now()) else { return Ok(false) };
        let Some(next) = self.next_plain(look, after).await? else { return Ok(false) };
        match self.dress(look, &next).await {
            Err(NotDressed::Homeserver(error)) if error.is_final() => {
                if round.refused(next.agent, self.now()) {
                    tracing::info!(%error, ?look, "the homeserver refuses this for profiles of ours: left alone for an hour");
                }
            }
            Err(error) => return Err(error),
            Ok(()) => {
                self.store.write(move |tx| note(tx, next.agent, look)).await?;
                round.done();
            }
        }
        Ok(true)
    }

    async fn next_plain(&self, look: Look, after: AgentKey) -> Result<Option<Plain>, StoreError> {
        let bot = self.settings.bot.clone();
        self.store
            .read(move |r| {
                if after >= BOT || r.meta(bot_shows(look))?.is_some() {
                    return r.next_plain(look, after);
                }
                let picture = r.meta(BOT_PICTURE)?.and_then(|url| String::from_utf8(url).ok());
                Ok(Some(Plain { agent: BOT, user_id: bot, picture }))
            })
            .await
    }
}

fn bot_shows(look: Look) -> &'static str {
    match look {
        Look::Picture => "bot_shows_picture",
        Look::About => "bot_shows_about",
    }
}

fn note(tx: &Tx<'_>, agent: AgentKey, look: Look) -> Result<(), StoreError> {
    if agent == BOT { tx.set_meta(bot_shows(look), b"") } else { tx.agent_shows(agent, look) }
}

impl Wardrobe {
    fn new() -> Self {
        let rounds = [(Look::Picture, Round::default()), (Look::About, Round::default())];
        Self { rounds, pause_ms: FIRST_PAUSE_MS }
    }

    fn again_at(&self) -> Option<i64> {
        self.rounds.iter().filter_map(|(_, round)| round.again_at()).min()
    }

    /// Longer each time, and never shorter than the homeserver asks for.
    fn wait_for(&mut self, error: &NotDressed) -> i64 {
        let asked_ms = match error {
            NotDressed::Homeserver(HsError::Limited { retry_after_ms }) => *retry_after_ms,
            _ => None,
        };
        let pause_ms = self.pause_ms.max(asked_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0));
        self.pause_ms = (self.pause_ms * 2).min(LONGEST_PAUSE_MS);
        pause_ms
    }
}
