use std::sync::Arc;

use parlour_domain::bot::CodeWish;
use parlour_store::Who;

use super::{Said, failed, in_room};
use crate::{
    app::App,
    bot::{Words, ask::Ask, chats::Shown},
};

/// The code itself is never said here: it goes to a chat with whoever asks.
pub(super) async fn run(app: &Arc<App>, ask: &Ask, wish: CodeWish, rest: &str) -> Said {
    let room = app.room_meant(ask, rest).await?;
    let of_room = in_room(ask, &room);
    let who = Who::User(ask.sender.clone());
    match wish {
        CodeWish::Off => {
            app.take_code_away(&room, who).await.map_err(|f| failed("do that", &f))?;
            return Ok(Words::new("The Agent code is off")
                .and(&of_room)
                .text(": agents can only knock now."));
        }
        CodeWish::New => app.give_new_code(&room, who).await.map_err(|f| failed("make a new code", &f))?,
        CodeWish::Show => app.make_sure_of_code(&room, who).await.map_err(|f| failed("show the code", &f))?,
    }
    let made = if wish == CodeWish::New {
        "There is a new Agent code; the old one opens nothing any more. "
    } else {
        ""
    };
    let shown = app.show_code_to(&ask.sender, &room, &ask.room).await;
    let said = match shown.map_err(|f| failed("open a chat with you", &f))? {
        Shown::Here(words) => return Ok(Words::new(made).and(&words)),
        Shown::InChat => "I have sent you the code in our direct chat.",
        Shown::Invited => {
            "Codes are said in private only: I have invited you to an encrypted chat. Accept, and I send you the code there."
        }
        Shown::Expected => {
            "You have an invitation of mine to an encrypted chat. Accept it, and I send you the code there."
        }
        Shown::Deaf => {
            "I say codes in encrypted chats only, and none of your devices can read those. Sign in with a client that does encryption, then ask me again."
        }
    };
    Ok(Words::new(made).text(said).and(&app.what_is_missing(&room)))
}
