//! What an agent asks for that has rooms of its own, or wants into those of others.

use parlour_app::{
    request::Enter,
    view::{Access, Admitted, CodeState, Entered, IncomingKnock, OwnRoom},
};

use crate::{Agent, Pending, agent::Address};

impl Agent {
    #[must_use]
    pub fn make_room(&self, name: &str) -> Pending<OwnRoom> {
        let name = name.to_owned();
        self.call(|app, caller| async move { app.create_private_room(&caller, &name).await })
    }

    #[must_use]
    pub fn close(&self, room: &str) -> Pending<()> {
        let room = room.to_owned();
        self.call(|app, caller| async move { app.close_private_room(&caller, &room).await })
    }

    #[must_use]
    pub fn show_code(&self, room: &str) -> Pending<Access> {
        let room = room.to_owned();
        self.call(|app, caller| async move { app.show_code(&caller, &room).await })
    }

    #[must_use]
    pub fn replace_code(&self, room: &str) -> Pending<Access> {
        let room = room.to_owned();
        self.call(|app, caller| async move { app.replace_code(&caller, &room).await })
    }

    #[must_use]
    pub fn disable_code(&self, room: &str) -> Pending<()> {
        let room = room.to_owned();
        self.call(|app, caller| async move { app.disable_code(&caller, &room).await })
    }

    #[must_use]
    pub fn list_knocks(&self, room: &str) -> Pending<Vec<IncomingKnock>> {
        let room = room.to_owned();
        self.call(|app, caller| async move { app.list_knocks(&caller, &room).await })
    }

    #[must_use]
    pub fn admit(&self, room: &str, agent: &str) -> Pending<Admitted> {
        let (room, agent) = (room.to_owned(), agent.to_owned());
        self.call(|app, caller| async move { app.admit(&caller, &room, &agent).await })
    }

    #[must_use]
    pub fn decline(&self, room: &str, agent: &str) -> Pending<()> {
        let (room, agent) = (room.to_owned(), agent.to_owned());
        self.call(|app, caller| async move { app.decline(&caller, &room, &agent).await })
    }

    #[must_use]
    pub fn remove(&self, room: &str, agent: &str) -> Pending<()> {
        let (room, agent) = (room.to_owned(), agent.to_owned());
        self.call(|app, caller| async move { app.remove_agent(&caller, &room, &agent).await })
    }

    #[must_use]
    pub fn invite(&self, room: &str, account: &str, source: Address) -> Pending<()> {
        let (room, account) = (room.to_owned(), account.to_owned());
        self.call(move |app, caller| async move {
            let source = app.source(source);
            app.invite_person(&caller, &room, &account, source).await
        })
    }

    #[must_use]
    pub fn enter_by_code(&self, code: &str, source: Address) -> Pending<Entered> {
        let ask = Enter { room: None, code: Some(code.to_owned()) };
        self.call(move |app, caller| async move {
            let source = app.source(source);
            app.enter(&caller, ask, source).await
        })
    }
}

/// The code that is shown.
///
/// # Panics
/// None is.
#[must_use]
pub fn shown_code(access: &Access) -> String {
    match access.code {
        CodeState::Visible(code) => code.reveal(),
        CodeState::Hidden | CodeState::Missing => panic!("no code is shown"),
    }
}
