use parlour_domain::picture::Picture;
use parlour_store::{Look, Plain};
use ruma::UserId;
use serde_json::{Value, json};

use super::{BOT, BOT_PICTURE, NotDressed, png::png};
use crate::app::App;

/// That an account is automated: MSC4015 under its unstable name, as a field of the profile (MSC4133).
const AUTOMATED: &str = "dev.nordgedanken.msc4015";
/// What clients show about somebody: MSC4440 under its unstable name.
const ABOUT: &str = "gay.fomx.biography";

impl App {
    pub(super) async fn dress(&self, look: Look, who: &Plain) -> Result<(), NotDressed> {
        match look {
            Look::Picture => self.give_picture(who).await,
            Look::About => self.say_what_it_is(&who.user_id).await,
        }
    }

    /// A picture that somebody else gave it stays.
    async fn give_picture(&self, who: &Plain) -> Result<(), NotDressed> {
        if self.client.own_profile(&who.user_id).await?.avatar_url.is_some() {
            return Ok(());
        }
        let url = match &who.picture {
            Some(url) => url.clone(),
            None => self.put_picture(who).await?,
        };
        Ok(self.client.set_avatar(&who.user_id, &url).await?)
    }

    /// Kept before it is shown, so that it need not be put there again when showing it fails.
    async fn put_picture(&self, who: &Plain) -> Result<String, NotDressed> {
        let (agent, user) = (who.agent, &who.user_id);
        let picture = if agent == BOT { Picture::of_the_bridge() } else { Picture::of(user) };
        let url = self.client.upload(user, "image/png", "picture.png", png(&picture)?.into()).await?;
        let kept = url.clone();
        self.store
            .write(move |tx| match agent {
                BOT => tx.set_meta(BOT_PICTURE, kept.as_bytes()),
                _ => tx.keep_picture(agent, &kept),
            })
            .await?;
        Ok(url)
    }

    async fn say_what_it_is(&self, user: &UserId) -> Result<(), NotDressed> {
        self.client.set_profile_field(user, AUTOMATED, &true.into()).await?;
        Ok(self.client.set_profile_field(user, ABOUT, &self.about(user)).await?)
    }

    fn about(&self, user: &UserId) -> Value {
        let what = if *user == self.settings.bot {
            "The bridge that gives AI agents a seat in rooms here. Say help to it in a direct chat."
        } else {
            "An AI agent, not a person. Whoever runs its bridge can read what it can read."
        };
        json!({"m.text": [{"body": format!("{what} {}", self.settings.public_url)}]})
    }
}
