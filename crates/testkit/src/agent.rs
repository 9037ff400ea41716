use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    sync::Arc,
};

use parking_lot::Mutex;
use parlour_app::{
    App, Caller,
    request::{Browse, Enter, Send as Say, Source, Wait},
    view::{Acked, Browsed, Entered, Inbox, Looked, Me, Sent, Welcome},
};
use parlour_domain::fault::Fault;
use ruma::OwnedUserId;
use secrecy::ExposeSecret;
use tokio::{runtime::Handle, task::JoinHandle};

use crate::within;

/// The bridge that runs now, if one does.
pub(crate) type Link = Arc<Mutex<Option<Current>>>;

#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) app: Arc<App>,
    pub(crate) handle: Handle,
}

/// An agent, as its own program sees it: a token, and a bridge that may be another one since the last call.
#[derive(Clone)]
pub struct Agent {
    link: Link,
    pub token: String,
    pub user_id: OwnedUserId,
    /// `Name #1234`.
    pub display_name: String,
    /// `agentId`
    pub id: String,
}

/// A call under way. Awaiting it ends at a deadline; a bridge that ends meanwhile is told as unavailable.
pub struct Pending<T>(JoinHandle<Result<T, Fault>>);

impl<T> Pending<T> {
    /// The client goes away: the future of the call is dropped, wherever it is.
    pub async fn go_away(self) {
        self.0.abort();
        let _ = self.0.await;
    }

    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T: Send + 'static> IntoFuture for Pending<T> {
    type Output = Result<T, Fault>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            match within("a call is answered", self.0).await {
                Ok(answer) => answer,
                Err(lost) if lost.is_cancelled() => Err(Fault::unavailable("the bridge is gone")),
                Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
            }
        })
    }
}

/// Runs a call where the bridge runs, so that it ends with it.
pub(crate) fn call<T, F, Fut>(link: &Link, work: F) -> Pending<T>
where
    T: Send + 'static,
    F: FnOnce(Arc<App>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<T, Fault>> + Send + 'static,
{
    let Some(current) = link.lock().clone() else {
        return Pending(tokio::spawn(async { Err(Fault::unavailable("no bridge runs")) }));
    };
    Pending(current.handle.spawn(async move { work(current.app).await }))
}

impl Agent {
    pub(crate) fn new(link: Link, welcome: &Welcome) -> Self {
        Self {
            link,
            token: welcome.token.expose_secret().to_owned(),
            user_id: welcome.agent.user_id.clone(),
            display_name: welcome.agent.display_name.clone(),
            id: welcome.agent.id.to_string(),
        }
    }

    pub(crate) fn call<T, F, Fut>(&self, work: F) -> Pending<T>
    where
        T: Send + 'static,
        F: FnOnce(Arc<App>, Caller) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let token = self.token.clone();
        call(&self.link, move |app| async move {
            let caller = app.caller(Some(&token))?;
            work(app, caller).await
        })
    }

    #[must_use]
    pub fn wait(&self, ask: Wait) -> Pending<Inbox> {
        self.call(|app, caller| async move { app.wait(&caller, ask).await })
    }

    /// `wait=0`: what is there.
    #[must_use]
    pub fn look(&self) -> Pending<Inbox> {
        self.wait(crate::wait(0))
    }

    #[must_use]
    pub fn ack(&self, event_id: &str) -> Pending<Acked> {
        self.ack_in(None, event_id)
    }

    #[must_use]
    pub fn ack_in(&self, room: Option<&str>, event_id: &str) -> Pending<Acked> {
        let (room, event_id) = (room.map(str::to_owned), event_id.to_owned());
        self.call(|app, caller| async move { app.ack(&caller, &event_id, room.as_deref()).await })
    }

    #[must_use]
    pub fn say(&self, text: &str) -> Pending<Sent> {
        self.send(Say { text: text.to_owned(), ..Say::default() })
    }

    #[must_use]
    pub fn send(&self, ask: Say) -> Pending<Sent> {
        self.call(|app, caller| async move { app.send(&caller, ask).await })
    }

    #[must_use]
    pub fn lookup(&self, ids: &[&str]) -> Pending<Looked> {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        self.call(|app, caller| async move { app.lookup(&caller, ids).await })
    }

    #[must_use]
    pub fn browse(&self, ask: Browse) -> Pending<Browsed> {
        self.call(|app, caller| async move { app.browse(&caller, ask).await })
    }

    #[must_use]
    pub fn me(&self) -> Pending<Me> {
        self.call(|app, caller| async move { app.me(&caller).await })
    }

    #[must_use]
    pub fn leave(&self) -> Pending<()> {
        self.call(|app, caller| async move { app.leave(&caller).await })
    }

    /// Into one more lobby, from an address of its own.
    #[must_use]
    pub fn enter(&self, room: &str, source: Address) -> Pending<Entered> {
        let ask = Enter { room: Some(room.to_owned()), code: None };
        self.call(move |app, caller| async move {
            let source: Source = app.source(source);
            app.enter(&caller, ask, source).await
        })
    }
}

pub(crate) type Address = parlour_domain::source::Source;
