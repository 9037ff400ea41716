// A person with a web browser: the system's Chromium, headless. Reads commands from standard input, one JSON object a
// line, and answers each with one line: {"ok": true, "value": ..} or {"ok": false, "error": ".."}.
// The commands are below; tests/src/browser.rs speaks to it.
import { createInterface } from "node:readline";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const PATIENCE_MS = 60_000;
const STEP_MS = 30;

const executablePath = process.env.PARLOUR_CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pages = new Map();

// What a page must not do: throw, break its own policy, or ask anybody else for anything.
function watched(page, problems, origin) {
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (line) => { if (line.type() === "error") problems.push(`console: ${line.text()}`); });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol.startsWith("http")) problems.push(`request: ${url.origin}`);
  });
}

const commands = {
  async open({ name, url, width = 1280, height = 800, dark = false, lang = "en", script = true, still = false }) {
    const context = await browser.newContext({
      viewport: { width, height }, colorScheme: dark ? "dark" : "light", locale: lang, javaScriptEnabled: script,
      reducedMotion: still ? "reduce" : "no-preference", timezoneId: "UTC",
    });
    const page = await context.newPage();
    const problems = [];
    watched(page, problems, new URL(url).origin);
    pages.set(name, { page, problems });
    const answer = await page.goto(url);
    return answer.status();
  },
  async go({ name, url }) {
    return (await pages.get(name).page.goto(url)).status();
  },
  // Waits until an expression is true in the page. Playwright's own way evaluates inside the page, which the policy of
  // ours forbids.
  async until({ name, expression }) {
    const { page } = pages.get(name);
    for (const end = Date.now() + PATIENCE_MS; !(await page.evaluate(expression)); await sleep(STEP_MS)) {
      if (Date.now() > end) throw new Error(`waited in vain; the page reads:\n${await page.innerText("body")}`);
    }
  },
  get: ({ name, expression }) => pages.get(name).page.evaluate(expression),
  text: ({ name, selector = "body" }) => pages.get(name).page.locator(selector).innerText(),
  key: ({ name, key }) => pages.get(name).page.keyboard.press(key),
  click: ({ name, selector }) => pages.get(name).page.click(selector),
  async shot({ name, path, full = false }) {
    await pages.get(name).page.screenshot({ path, fullPage: full });
  },
  // Rules that the page breaks, with the elements.
  async axe({ name }) {
    const { page } = pages.get(name);
    await page.evaluate(axe);
    const { violations } = await page.evaluate("axe.run()");
    return violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.html} ${n.failureSummary}`).join(" | ")}`);
  },
  problems: ({ name }) => pages.get(name).problems,
  async close({ name }) {
    await pages.get(name).page.context().close();
    pages.delete(name);
  },
};

console.log(JSON.stringify({ ok: true, value: browser.version() }));
for await (const line of createInterface({ input: process.stdin })) {
  const { cmd, ...rest } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ ok: true, value: (await commands[cmd](rest)) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ ok: false, error: error.message }));
  }
}
await browser.close();
