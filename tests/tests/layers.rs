//! Who may use whom: the crates as they are, `deny.toml`, and the map in the docs say the same. And who may look into
//! secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

/// Each layer of the bridge with what it may use of the others. From the top down, so nothing points upwards.
const LAYERS: [(&str, &[&str]); 6] = [
    // The binary joins the parts, so it may see all of them.
    ("parlour", &["parlour-api", "parlour-app", "parlour-store", "parlour-matrix", "parlour-domain"]),
    ("parlour-api", &["parlour-app", "parlour-domain"]),
    ("parlour-app", &["parlour-store", "parlour-matrix", "parlour-domain"]),
    ("parlour-store", &["parlour-domain"]),
    ("parlour-matrix", &["parlour-domain"]),
    ("parlour-domain", &[]),
];

/// Test tools may use everything; nothing that is shipped may use them.
const TOOLS: [&str; 5] = ["parlour-testkit", "parlour-synapse", "parlour-tests", "parlour-bench", "xtask"];

/// The bench has people with keys of their own; the bridge itself it sees from outside.
const BENCH_USES: [&str; 2] = ["parlour-matrix", "parlour-domain"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// Every package of the workspace with the workspace packages that it is built from. Tests may use more.
fn uses() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
    let output = cargo.output()?;
    anyhow::ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    Ok(packages.iter().map(|package| (name(package), built_from(package))).collect())
}

fn name(value: &Value) -> String {
    value["name"].as_str().unwrap_or_default().to_owned()
}

fn built_from(package: &Value) -> BTreeSet<String> {
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let ours = dependencies.filter(|d| d["path"].is_string() && d["kind"] != "dev");
    ours.map(name).collect()
}

#[test]
fn dependencies_point_downwards_only() -> Result<()> {
    let uses = uses()?;
    for (layer, allowed) in LAYERS {
        let used = uses.get(layer).with_context(|| format!("there is no package {layer}"))?;
        let forbidden: Vec<&String> = used.iter().filter(|u| !allowed.contains(&u.as_str())).collect();
        assert!(forbidden.is_empty(), "{layer} must not use {forbidden:?}");
    }
    let known: BTreeSet<&str> = LAYERS.iter().map(|(layer, _)| *layer).chain(TOOLS).collect();
    let unknown: Vec<&String> = uses.keys().filter(|name| !known.contains(name.as_str())).collect();
    assert!(unknown.is_empty(), "give {unknown:?} a place in this test and in deny.toml");
    Ok(())
}

/// Stories see the bridge from outside only.
#[test]
fn stories_do_not_link_the_bridge() -> Result<()> {
    assert_eq!(uses()?["parlour-tests"], BTreeSet::from(["parlour-synapse".to_owned()]));
    Ok(())
}

#[test]
fn deny_toml_says_the_same() -> Result<()> {
    let deny: toml::Table = std::fs::read_to_string(root().join("deny.toml"))?.parse()?;
    let bans = deny["bans"]["deny"].as_array().context("no bans.deny")?;
    for (layer, _) in LAYERS.iter().filter(|(layer, _)| *layer != "parlour") {
        let ban = bans.iter().find(|ban| ban["crate"].as_str() == Some(*layer));
        let wrappers =
            ban.and_then(|b| b["wrappers"].as_array()).with_context(|| format!("no ban for {layer}"))?;
        let wrappers: BTreeSet<&str> = wrappers.iter().filter_map(|w| w.as_str()).collect();
        let users = LAYERS.iter().filter(|(_, allowed)| allowed.contains(layer)).map(|(user, _)| *user);
        let bench = BENCH_USES.contains(layer).then_some("parlour-bench");
        let expected: BTreeSet<&str> = users.chain(["parlour-testkit"]).chain(bench).collect();
        assert_eq!(wrappers, expected, "who may use {layer}");
    }
    Ok(())
}

/// Where a secret is taken out of its wrapping, and what for. Nowhere is it compared but in constant time.
const OPENS_SECRETS: [(&str, &str); 9] = [
    ("crates/api/src/mcp/tools/mod.rs", "an agent's token on its way to its digest"),
    ("crates/api/src/rest/join.rs", "the answer that tells an agent its token"),
    ("crates/app/src/devices/make.rs", "a puppet's token is sealed"),
    ("crates/matrix/src/appservice/auth.rs", "held against what a request bears"),
    ("crates/matrix/src/client.rs", "a header of our requests"),
    ("crates/matrix/src/client/request.rs", "a header of our requests"),
    ("crates/matrix/src/registration/yaml.rs", "the registration's file"),
    ("crates/parlour/src/commands/check/probe.rs", "a header of our requests"),
    ("crates/parlour/src/commands/registration.rs", "tokens are kept over a new registration"),
];

#[test]
fn secrets_are_opened_only_where_that_is_known_and_never_for_eq() -> Result<()> {
    let mut opened = BTreeSet::new();
    for (path, line) in shipped_lines()?.into_iter().filter(|(_, line)| line.contains(".expose_secret()")) {
        assert!(!line.contains("==") && !line.contains("!="), "{path} compares a secret: {line}");
        opened.insert(path);
    }
    let known: BTreeSet<String> = OPENS_SECRETS.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(opened, known, "where secrets are opened");
    Ok(())
}

/// All lines of the bridge's own code with the file they are in. What follows `mod tests` in a file is a test.
fn shipped_lines() -> Result<Vec<(String, String)>> {
    let mut lines = vec![];
    for (layer, _) in LAYERS {
        let source = root().join("crates").join(layer.trim_start_matches("parlour-")).join("src");
        for path in rust_files(&source)? {
            let text = std::fs::read_to_string(&path)?;
            let name = path.strip_prefix(root())?.to_string_lossy().into_owned();
            let shipped = text.split("\nmod tests {").next().unwrap_or_default();
            lines.extend(shipped.lines().map(|line| (name.clone(), line.to_owned())));
        }
    }
    Ok(lines)
}

/// Tests apart, which have files and folders of their own.
fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let test = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
        match path.is_dir() {
            _ if test => {}
            true => files.extend(rust_files(&path)?),
            false if path.extension().is_some_and(|e| e == "rs") => files.push(path),
            false => {}
        }
    }
    Ok(files)
}

#[test]
fn every_path_in_the_docs_exists() -> Result<()> {
    let text =
        std::fs::read_to_string(root().join("docs/architecture.md")).context("docs/architecture.md")?;
    let missing: Vec<&str> = paths(&text).filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "docs/architecture.md names what is not there: {missing:?}");
    assert!(paths(&text).count() >= 10, "docs/architecture.md names hardly any file; is it read right?");
    Ok(())
}

/// Words in backquotes that look like a path of the repository.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let words = quoted
        .filter(|w| !w.contains(char::is_whitespace) && !w.starts_with(['/', '_', '-']) && !w.contains("::"));
    words.filter(|w| w.contains('/') && !w.contains("://") && !w.contains(['{', '*', '<']))
}
