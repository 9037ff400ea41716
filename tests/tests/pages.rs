//! The pages in a real browser: a lobby of a real homeserver, watched while it happens.
//!
//! Pictures of what was seen are left in `pages/` of the target folder.
#![allow(clippy::disallowed_methods, reason = "a story runs in real time beside real processes")]

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use parlour_tests::{
    Agent, Browser, EventStream, Look, Person, Plan, SERVER_NAME, Stack, Tab, encode, fresh_uuid,
};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::block_in_place;

#[path = "common/mod.rs"]
mod common;

use common::{mentioning, text};

const HOSTILE: &str =
    "</div><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">";

/// A homeserver, a bridge, an agent, a person and a browser.
struct World {
    stack: Stack,
    agent: Agent,
    ada: Person,
    room: String,
    browser: Browser,
}

impl World {
    async fn start() -> Result<Self> {
        let stack = Stack::start(Plan::default()).await?;
        let agent = stack.agent("Scout", None).await?;
        let ada = stack.person("ada")?;
        call_oneself(&ada, "Ada").await?;
        let room = ada.join(&format!("#lobby:{SERVER_NAME}")).await?;
        Ok(Self { stack, agent, ada, room, browser: Browser::start().await? })
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.stack.bridge.url())
    }

    async fn watch(&self, look: Look) -> Result<Tab<'_>> {
        let tab = self.browser.open("watch", &self.url("/watch"), look).await?;
        ensure!(tab.status == 200, "/watch: {}", tab.status);
        if look.script {
            tab.until("document.querySelector('#state').className === 'live'").await?;
        }
        Ok(tab)
    }

    /// A conversation with all that can happen in one.
    async fn talk(&self) -> Result<()> {
        let puppet = self.ada.member_named(&self.room, &self.agent.display_name).await?;
        let name = &self.agent.display_name;
        self.ada.say(&self.room, "Good morning! Is anybody up?").await?;
        let asked = mentioning(&format!("{name}: what did the night build say?"), &[&puppet]);
        let asked = self.ada.message(&self.room, &asked).await?;
        let heard = self.agent.hear(&asked).await?;
        let answer = json!({"text": "All green: 1,204 tests in eleven minutes.\nTwo were slower than last week; \
            I have put them on the list.", "replyTo": heard["messageId"]});
        self.agent.send(&answer).await?.expect(201)?;
        let typo = self.ada.say(&self.room, "Thanks! Then let us relaese at noon.").await?;
        self.ada.edit(&self.room, &typo, "Thanks! Then let us release at noon.").await?;
        let regretted = self.ada.say(&self.room, "And by the way, my password is swordfish").await?;
        self.ada.redact(&self.room, &regretted).await?;
        self.agent.say("中午发布，我来准备说明。").await?;
        Ok(())
    }
}

async fn call_oneself(person: &Person, name: &str) -> Result<()> {
    let path = format!("/profile/{}/displayname", encode(&person.user_id));
    person.call(Method::PUT, &path, Some(&json!({"displayname": name}))).await?.expect(200).map(drop)
}

/// Where pictures go.
fn picture(name: &str) -> Result<PathBuf> {
    let exe = std::env::current_exe()?;
    let folder = exe.ancestors().nth(3).unwrap_or(Path::new(".")).join("pages");
    std::fs::create_dir_all(&folder)?;
    Ok(folder.join(format!("{name}.png")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lobby_is_watched_while_it_happens() -> Result<()> {
    let world = World::start().await?;
    let tab = world.watch(Look::DESKTOP).await?;
    world.talk().await?;
    tab.reads("release at noon").await?;
    tab.reads("中午发布").await?;
    tab.until("!document.body.innerText.includes('swordfish')").await?;
    let page = tab.text().await?;
    for part in [&*world.agent.display_name, "agent", "answers", "edited", "1,204 tests", "Live"] {
        assert!(page.contains(part), "{part:?} is missing:\n{page}");
    }
    let marked = tab.get("[...document.querySelectorAll('mark')].map(m => m.textContent)").await?;
    assert!(marked.as_array().is_some_and(|m| m.contains(&json!(world.agent.display_name))), "{marked}");
    hostile(&world, &tab).await?;
    restarted(&world, &tab).await?;
    homeserver_restarted(&world, &tab).await?;
    tab.sound().await?;
    nothing_private(&world).await?;
    world.stack.finish().await
}

/// What people write is text, whatever it looks like.
async fn hostile(world: &World, tab: &Tab<'_>) -> Result<()> {
    let name = format!("Eve \u{202e}{HOSTILE}");
    let eve = world.stack.person("eve")?;
    call_oneself(&eve, &name).await?;
    eve.join(&world.room).await?;
    eve.say(&world.room, HOSTILE).await?;
    eve.say(&world.room, &"W".repeat(10_000)).await?;
    eve.say(&world.room, &format!("zalgo Z{}", "\u{0336}\u{0489}".repeat(400))).await?;
    tab.reads("zalgo").await?;
    tab.reads("onerror=").await?;
    let wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
    assert_eq!(tab.get(wide).await?, json!(false), "something hangs out to the side");
    assert_eq!(tab.get("document.querySelectorAll('article script, article img').length").await?, json!(0));
    assert_ne!(tab.get("document.title").await?, json!("broken"));
    let high = "Math.max(...[...document.querySelectorAll('article')].map(a => a.offsetHeight))";
    let high = tab.get(high).await?.as_f64().context("no height")?;
    assert!(high < 1_200.0, "a message is {high} pixels high");
    Ok(())
}

/// The browser comes back by itself, and shows everything once.
async fn restarted(world: &World, tab: &Tab<'_>) -> Result<()> {
    let early = world.ada.say(&world.room, "said before the restart").await?;
    tab.reads("said before the restart").await?;
    world.stack.bridge.stop().await?;
    tab.reads("Connection lost").await?;
    world.ada.edit(&world.room, &early, "changed during the restart").await?;
    let gone = world.ada.say(&world.room, "never to be seen").await?;
    world.ada.redact(&world.room, &gone).await?;
    world.ada.say(&world.room, "said during the restart").await?;
    world.stack.bridge.start()?;
    world.stack.bridge.ready().await?;
    tab.reads("said during the restart").await?;
    tab.reads("changed during the restart").await?;
    world.ada.say(&world.room, "said after the restart").await?;
    tab.reads("said after the restart").await?;
    let ids = tab.get("[...document.querySelectorAll('article[data-id]')].map(a => a.dataset.id)").await?;
    let ids: Vec<&str> = ids.as_array().context("no list")?.iter().map(text).collect();
    let once: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(once.len(), ids.len(), "a message is shown twice");
    let page = tab.text().await?;
    assert!(!page.contains("never to be seen") && !page.contains("said before the restart"), "{page}");
    assert_eq!(page.matches("said during the restart").count(), 1, "{page}");
    Ok(())
}

/// Of that the browser notices nothing.
async fn homeserver_restarted(world: &World, tab: &Tab<'_>) -> Result<()> {
    for word in ["the homeserver is back", "the homeserver is back again"] {
        block_in_place(|| world.stack.synapse.restart())?;
        world.ada.say(&world.room, word).await?;
        tab.reads(word).await?;
    }
    Ok(())
}

/// Private rooms answer as if they were not there.
async fn nothing_private(world: &World) -> Result<()> {
    let asked = json!({"name": "The vault"});
    let room = world.agent.call(Method::POST, "/me/private-rooms", Some(&asked)).await?.expect(201)?;
    let number = text(&room["room"]["catalogId"]).to_owned();
    ensure!(!number.is_empty(), "no number: {room}");
    let inside = world.agent.turned_to(text(&room["room"]["matrixRoomId"]));
    inside.say_here("the combination is 1234").await?;
    let stranger = fresh_uuid();
    for path in ["lobby", "watch"] {
        let mut pages = vec![];
        for number in [&number, &stranger] {
            let url = world.url(&format!("/{path}/{number}"));
            let tab = world.browser.open(path, &url, Look::DESKTOP).await?;
            pages.push((tab.status, tab.text().await?.replace(number.as_str(), "N")));
            tab.sound().await?;
        }
        assert_eq!(pages[0].0, 404);
        assert_eq!(pages[0], pages[1], "one can tell that there is a room");
    }
    let tab = world.watch(Look::DESKTOP).await?;
    let page = tab.text().await?;
    assert!(!page.contains("combination") && !page.contains("vault"), "{page}");
    tab.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_for_everybody() -> Result<()> {
    let world = World::start().await?;
    world.talk().await?;
    let lobbies = world.agent.get("/me").await?.expect(200)?;
    let number = text(&lobbies["rooms"][0]["catalogId"]).to_owned();
    let pages =
        [("home", "/".to_owned()), ("watch", "/watch".to_owned()), ("lobby", format!("/lobby/{number}"))];
    for looks in 0..8 {
        let (dark, phone) = (looks & 1 == 1, looks & 2 == 2);
        let lang = if looks & 4 == 4 { "zh-CN" } else { "en" };
        let look = Look { dark, lang, ..if phone { Look::PHONE } else { Look::DESKTOP } };
        for (name, path) in &pages {
            let tab = world.browser.open(name, &world.url(path), look).await?;
            assert_eq!(tab.status, 200, "{path}");
            if *name == "watch" {
                tab.until("document.querySelector('#state').className === 'live'").await?;
            }
            assert_eq!(tab.get("document.documentElement.lang").await?, json!(&lang[..2]));
            let scheme = if dark { "dark" } else { "light" };
            tab.shot(&picture(&format!("{name}-{}-{scheme}-{}", &lang[..2], look.width))?).await?;
            tab.sound().await?;
        }
    }
    by_keyboard(&world).await?;
    without_script(&world).await?;
    small(&world, &pages).await?;
    world.stack.finish().await
}

/// The first thing that a keyboard reaches leads past what is on every page.
async fn by_keyboard(world: &World) -> Result<()> {
    let tab = world.browser.open("keys", &world.url("/"), Look::DESKTOP).await?;
    tab.key("Tab").await?;
    assert_eq!(tab.get("document.activeElement.className").await?, json!("skip"));
    tab.key("Enter").await?;
    tab.until("document.activeElement.id === 'main'").await?;
    tab.key("Tab").await?;
    let inside = tab.get("document.querySelector('main').contains(document.activeElement)").await?;
    assert_eq!(inside, json!(true));
    tab.close().await
}

async fn without_script(world: &World) -> Result<()> {
    let tab = world.watch(Look { script: false, ..Look::PHONE }).await?;
    let page = tab.text().await?;
    for part in ["release at noon", "1,204 tests", "Times are UTC", "Load it again"] {
        assert!(page.contains(part), "{part:?} is missing:\n{page}");
    }
    assert!(!page.contains("swordfish") && !page.contains("Live"), "{page}");
    tab.shot(&picture("watch-no-script")?).await?;
    tab.close().await
}

/// All that a page loads, messages left out, is less than 30 KB.
async fn small(world: &World, pages: &[(&str, String)]) -> Result<()> {
    for (name, path) in pages {
        let tab = world.browser.open("size", &world.url(path), Look::DESKTOP).await?;
        let size = "performance.getEntriesByType('resource').filter(r => r.initiatorType !== 'eventsource')
            .concat(performance.getEntriesByType('navigation')).reduce((sum, r) => sum + r.decodedBodySize, 0)
            - (document.querySelector('#log')?.innerHTML.length ?? 0)";
        let size = tab.get(size).await?.as_f64().context("no size")?;
        assert!(size > 1_000.0 && size < 30_000.0, "{name} is {size} bytes");
        tab.close().await?;
    }
    Ok(())
}

/// A stream without a browser: what a script sees.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_goes_on_where_it_was_left() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = stack.person("ada")?;
    let room = ada.join(&format!("#lobby:{SERVER_NAME}")).await?;
    ada.say(&room, "one").await?;
    let mut stream = EventStream::open(&stack.bridge, "/watch", None).await?;
    let first = stream.until("one").await?;
    ada.say(&room, "two").await?;
    let second = stream.until("two").await?;
    ensure!(first.id.is_some() && first.id != second.id, "an event has no id of its own");
    drop(stream);
    stack.bridge.restart().await?;
    ada.say(&room, "three").await?;
    let mut again = EventStream::open(&stack.bridge, "/watch", second.id.as_deref()).await?;
    again.until("three").await?;
    let told: Vec<&Value> = again.seen.iter().filter(|e| e.name == "add").map(|e| &e.data).collect();
    ensure!(told.len() == 1, "told twice: {told:?}");
    stack.bridge.stop().await?;
    again.end().await?;
    stack.finish().await
}
