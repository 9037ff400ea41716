// Times in the reader's zone, copying, and following what is new. The pages are whole without any of it.
// The page's language, in the reader's own way of writing dates.
const lang = navigator.languages.find((l) => l.startsWith(document.documentElement.lang)) ?? document.documentElement.lang;
const clock = new Intl.DateTimeFormat(lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(lang, { dateStyle: "long" });
const both = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
const byId = (id) => document.getElementById(id);

const timeOf = (article) => new Date(article.querySelector("time")?.dateTime ?? NaN);

function localise(article) {
  const time = article.querySelector("time");
  const at = timeOf(article);
  if (!time || Number.isNaN(at.getTime())) return;
  time.textContent = clock.format(at);
  time.title = both.format(at);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  const word = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = word; }, 2500);
  });
}

const log = byId("log");
if (log) follow(log);

function follow(log) {
  const MOST = 400; // on the page; older ones are a page of their own
  const AGAIN_MS = 30_000;
  const state = byId("state");
  const unseen = byId("unseen");
  const empty = document.querySelector(".empty");
  const url = log.dataset.stream && new URL(log.dataset.stream, location.href);
  const articles = new Map();
  let source, retry, cursor, count = 0;

  const every = () => log.querySelectorAll("article");
  const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 120;
  const toEnd = () => scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });

  // Headings of days, and names left out where somebody goes on. Only what is wrong is touched: this is a live region.
  function tidy() {
    let last, lastDay, lastAt;
    for (const article of every()) {
      const at = timeOf(article);
      const today = Number.isNaN(at.getTime()) ? lastDay : day.format(at);
      const heading = article.previousElementSibling?.matches(".day") ? article.previousElementSibling : null;
      if (today !== lastDay && !heading) article.before(headed(today));
      if (today !== lastDay && heading && heading.textContent !== today) heading.textContent = today;
      if (today === lastDay) heading?.remove();
      const goesOn = today === lastDay && last === article.dataset.by && at - lastAt < 300_000
        && !article.querySelector(".answers, .by .quiet");
      article.classList.toggle("same", Boolean(last && goesOn));
      [last, lastDay, lastAt] = [article.dataset.by, today, at];
    }
    while (log.lastElementChild?.matches(".day")) log.lastElementChild.remove();
    if (empty) empty.hidden = articles.size > 0;
  }

  function headed(text) {
    const heading = document.createElement("h2");
    heading.className = "day";
    heading.textContent = text;
    return heading;
  }

  function read(html) {
    const template = document.createElement("template");
    template.innerHTML = html; // made by the server's template, which escapes what people write
    const article = template.content.querySelector("article");
    localise(article);
    return article;
  }

  // Before what comes after it; at the end if there is nothing. What belongs before all that is here stays out.
  function put(article, before) {
    if (before && !articles.has(before)) return false;
    const next = before ? articles.get(before) : null;
    const heading = next?.previousElementSibling;
    log.insertBefore(article, heading?.matches(".day") ? heading : next);
    articles.set(article.dataset.id, article);
    return true;
  }

  function drop(article) {
    article?.remove();
    articles.delete(article?.dataset.id);
  }

  function removed(id) {
    const article = articles.get(id);
    if (!article) return;
    const time = article.querySelector("time"); // keeps its place in the day
    time.hidden = true;
    const words = document.createElement("p");
    words.className = "words";
    words.textContent = log.dataset.removed;
    article.replaceChildren(time, words);
    article.className = "gone";
    delete article.dataset.id;
    delete article.dataset.by;
    articles.delete(id);
  }

  const on = {
    reset() {
      log.replaceChildren();
      articles.clear();
    },
    add({ id, before, html }) {
      const article = read(html);
      article.classList.add("new");
      if (!articles.has(id) && put(article, before)) count += 1;
      while (every().length > MOST) drop(every()[0]);
    },
    change({ id, before, html }) {
      const old = articles.get(id);
      if (!old) return;
      const article = read(html);
      const moved = (next(old)?.dataset.id ?? null) !== before && (!before || articles.has(before));
      old.replaceChildren(...article.childNodes);
      if (moved) put(old, before);
    },
    remove: ({ id }) => removed(id),
    expire: ({ id }) => drop(articles.get(id)),
    keep({ ids }) {
      const kept = new Set(ids);
      let later = false; // what is missing before the first that is left may just be old
      for (const article of log.querySelectorAll("article[data-id]")) {
        if (kept.has(article.dataset.id)) later = true;
        else if (later) removed(article.dataset.id);
        else drop(article);
      }
    },
  };

  function next(article) {
    let at = article.nextElementSibling;
    while (at && !at.dataset.id) at = at.nextElementSibling;
    return at;
  }

  function say(what) {
    state.hidden = false;
    state.className = what;
    if (state.textContent !== state.dataset[what]) state.textContent = state.dataset[what];
  }

  function tell() {
    unseen.hidden = count === 0;
    unseen.textContent = count === 1 ? unseen.dataset.one : unseen.dataset.many.replace("#", count);
  }

  function start() {
    clearTimeout(retry);
    source?.close();
    if (cursor) url.searchParams.set("after", cursor);
    source = new EventSource(url);
    source.onopen = () => say("live");
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return say("lost");
      say("refused");
      retry = setTimeout(start, AGAIN_MS);
    };
    for (const [name, work] of Object.entries(on)) {
      source.addEventListener(name, (event) => {
        const stay = atEnd();
        if (event.lastEventId) cursor = event.lastEventId;
        work(JSON.parse(event.data));
        tidy();
        if (stay && !document.hidden) { toEnd(); count = 0; }
        tell();
      });
    }
  }

  for (const article of every()) {
    localise(article);
    articles.set(article.dataset.id, article);
  }
  tidy();
  if (!url) return;
  if (!location.hash) toEnd();
  say("connecting");
  start();
  addEventListener("scroll", () => { if (count && atEnd()) { count = 0; tell(); } }, { passive: true });
  document.addEventListener("visibilitychange", () => (document.hidden ? source.close() : start()));
  addEventListener("pageshow", (event) => { if (event.persisted) start(); });
}
