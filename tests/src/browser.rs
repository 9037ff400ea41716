//! A person with a web browser: `tests/browser/browser.mjs` as a child process, one JSON object a line in both
//! directions.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Longer than anything that the browser itself waits for.
const OBEY: Duration = Duration::from_secs(90);

/// How somebody looks at a page.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub width: u32,
    pub height: u32,
    pub dark: bool,
    /// What the browser asks for, such as `zh-CN`.
    pub lang: &'static str,
    /// Whether JavaScript is on.
    pub script: bool,
}

impl Look {
    pub const DESKTOP: Self = Self { width: 1280, height: 800, dark: false, lang: "en", script: true };
    pub const PHONE: Self = Self { width: 390, height: 844, ..Self::DESKTOP };
}

/// Chromium. Dropping it kills it.
pub struct Browser {
    pipes: Mutex<(ChildStdin, Lines<BufReader<ChildStdout>>)>,
    // Held for its `kill_on_drop`.
    _child: Child,
}

/// One window of it.
pub struct Tab<'a> {
    browser: &'a Browser,
    name: String,
    /// The page's HTTP status when it was opened.
    pub status: u64,
}

impl Browser {
    /// # Errors
    /// It cannot be started, or has not what it needs.
    pub async fn start() -> Result<Self> {
        let script = script()?;
        let mut child = Command::new("node")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot run node")?;
        let (stdin, stdout) =
            (child.stdin.take().context("no stdin")?, child.stdout.take().context("no stdout")?);
        let browser = Self { pipes: Mutex::new((stdin, BufReader::new(stdout).lines())), _child: child };
        let mut pipes = browser.pipes.lock().await;
        answer(&mut pipes.1, "start").await.context("is Chromium installed? See tests/browser/README.md")?;
        drop(pipes);
        Ok(browser)
    }

    /// Opens a page in a window of its own, as somebody who was never here.
    ///
    /// # Errors
    /// It cannot be loaded.
    pub async fn open(&self, name: &str, url: &str, look: Look) -> Result<Tab<'_>> {
        let Look { width, height, dark, lang, script } = look;
        let ask = json!({"cmd": "open", "name": name, "url": url, "width": width, "height": height, "dark": dark,
            "lang": lang, "script": script, "still": true});
        let status = self.obey(&ask).await?.as_u64().context("no status")?;
        Ok(Tab { browser: self, name: name.to_owned(), status })
    }

    async fn obey(&self, ask: &Value) -> Result<Value> {
        let mut pipes = self.pipes.lock().await;
        pipes.0.write_all(format!("{ask}\n").as_bytes()).await?;
        answer(&mut pipes.1, &ask.to_string()).await
    }
}

impl Tab<'_> {
    async fn ask(&self, cmd: &str, more: Value) -> Result<Value> {
        let mut ask = more;
        ask["cmd"] = cmd.into();
        ask["name"] = self.name.as_str().into();
        self.browser.obey(&ask).await
    }

    /// Waits until an expression is true in the page.
    ///
    /// # Errors
    /// It is not within a minute.
    pub async fn until(&self, expression: &str) -> Result<()> {
        self.ask("until", json!({"expression": expression})).await.map(drop)
    }

    /// What an expression is in the page.
    ///
    /// # Errors
    /// It throws.
    pub async fn get(&self, expression: &str) -> Result<Value> {
        self.ask("get", json!({"expression": expression})).await
    }

    /// What is to be read on the page.
    ///
    /// # Errors
    /// The browser is gone.
    pub async fn text(&self) -> Result<String> {
        Ok(self.ask("text", json!({})).await?.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until a text is to be read on the page.
    ///
    /// # Errors
    /// It is not within a minute.
    pub async fn reads(&self, text: &str) -> Result<()> {
        self.until(&format!("document.body.innerText.includes({})", json!(text))).await
    }

    /// Presses a key.
    ///
    /// # Errors
    /// The browser is gone.
    pub async fn key(&self, key: &str) -> Result<()> {
        self.ask("key", json!({"key": key})).await.map(drop)
    }

    /// Takes a picture.
    ///
    /// # Errors
    /// It cannot be written.
    pub async fn shot(&self, path: &Path) -> Result<()> {
        self.ask("shot", json!({"path": path})).await.map(drop)
    }

    /// Closes the window after a look at what went wrong in it: rules of accessibility that it breaks (axe-core), errors,
    /// breaches of its own content policy, requests to others. The browser's own line about a status such as 404 is
    /// left out.
    ///
    /// # Errors
    /// Something did.
    pub async fn sound(self) -> Result<()> {
        let broken = self.ask("axe", json!({})).await?;
        ensure!(broken == json!([]), "{}: {broken:#}", self.name);
        self.close().await
    }

    /// The same without axe, which needs JavaScript.
    ///
    /// # Errors
    /// Something went wrong in it.
    pub async fn close(self) -> Result<()> {
        let problems = self.ask("problems", json!({})).await?;
        let problems = problems.as_array().cloned().unwrap_or_default();
        let real = |p: &&Value| !p.as_str().unwrap_or_default().contains("Failed to load resource");
        let real: Vec<&Value> = problems.iter().filter(real).collect();
        ensure!(real.is_empty(), "{}: {real:?}", self.name);
        self.ask("close", json!({})).await.map(drop)
    }
}

async fn answer(lines: &mut Lines<BufReader<ChildStdout>>, what: &str) -> Result<Value> {
    let line = timeout(OBEY, lines.next_line()).await.with_context(|| format!("{what} took too long"))??;
    let mut answer: Value =
        serde_json::from_str(&line.with_context(|| format!("the browser ended at {what}"))?)?;
    ensure!(answer["ok"] == true, "{what}: {}", answer["error"]);
    Ok(answer["value"].take())
}

fn script() -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser");
    ensure!(
        folder.join("node_modules").is_dir(),
        "{} has no modules: run `cargo xtask test` or `npm ci` there",
        folder.display()
    );
    Ok(folder.join("browser.mjs"))
}
