//! What the log holds of a request, and what it must not.

use std::{
    io,
    sync::{Arc, Mutex},
};

use tracing_subscriber::fmt::MakeWriter;

use super::support::{Ask, ID, TOKEN, get, post, response};
use crate::double::App;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Everything that is logged, down to the finest level, while a request is answered.
async fn logged(app: App, ask: Ask) -> String {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .without_time()
        .with_writer(log.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    response(app, ask).await;
    drop(guard);
    let bytes = log.0.lock().unwrap();
    String::from_utf8(bytes.clone()).unwrap()
}

#[tokio::test]
async fn a_request_is_one_line_with_its_route() {
    let log = logged(App::open(), get("/me/rooms/%21room%3Ax/messages?from=secret")).await;
    assert_eq!(log.lines().count(), 1, "{log}");
    let route = r#"method="GET" route="/v1/network-agents/me/rooms/{roomId}/messages" status=200"#;
    assert!(log.contains(route) && log.contains(&ID.text()), "{log}");
}

#[tokio::test]
async fn a_failure_says_why() {
    let log = logged(App::broken(), get("/me")).await;
    assert!(log.contains("WARN") && log.contains("broken on purpose") && log.contains(&ID.text()), "{log}");
    let log = logged(App::broken(), get("/rooms")).await;
    assert!(log.contains("ERROR") && log.contains("a handler panicked"), "{log}");
}

#[tokio::test]
async fn no_token_text_id_or_query_is_in_any_line() {
    let asks = [
        get("/me/messages?from=%40secret%3Ax&wait=secret"),
        get("/me/rooms/secret/messages?secret=secret"),
        get("/secret?secret=secret").without("authorization"),
        post("", r#"{"name":"secret","code":"secret"}"#),
        post("", r#"{"name":["secret"]}"#),
        post("/me/messages", r#"{"text":"secret"}"#),
        post("/me/messages", r#"{"text":"secret\ud800"}"#),
        post("/me/messages", r#"{"text":{"secret":1}}"#),
        post("/me/messages", r#"{"secret":1}"#).with("x-forwarded-for", "secret"),
    ];
    for ask in asks {
        for app in [App::open(), App::broken()] {
            let log = logged(app, ask.clone()).await;
            assert!(!log.contains("secret") && !log.contains(TOKEN), "{log}");
        }
    }
}
