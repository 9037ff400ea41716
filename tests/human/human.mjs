#!/usr/bin/env node
// A headless person: commands as JSON lines on standard input, results and events as JSON lines on standard output.
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

// Node.js 20 has no Promise.withResolvers, which matrix-js-sdk 43 calls.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((yes, no) => ((resolve = yes), (reject = no)));
  return { promise, resolve, reject };
};

const { values: options } = parseArgs({
  options: {
    hs: { type: "string" },
    user: { type: "string" },
    keys: { type: "string" },
    "no-cross-signing": { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

// The SDK logs to the console; standard output is for JSON lines alone.
for (const name of ["log", "info", "debug", "warn", "error", "trace"])
  console[name] = (...words) => options.verbose && process.stderr.write(words.map(String).join(" ") + "\n");

const { write, emit } = await import("./events.mjs");
const { logger } = await import("matrix-js-sdk/lib/logger.js");
logger.setLevel(options.verbose ? "debug" : "silent");
const { signIn } = await import("./session.mjs");
const { commands } = await import("./commands.mjs");

function problem(error) {
  return { message: error.message, errcode: error.errcode ?? error.data?.errcode, status: error.httpStatus };
}

async function run(id, work) {
  try {
    write({ type: "result", id, ok: true, ...(await work()) });
  } catch (error) {
    write({ type: "result", id, ok: false, error: problem(error) });
  }
}

let person = null;

async function obey(line) {
  const command = JSON.parse(line);
  await run(command.id, () => {
    const work = commands[command.cmd];
    if (!work) throw new Error(`no command ${command.cmd}; there are ${Object.keys(commands).join(", ")}`);
    if (!person) throw new Error("the sign-in failed");
    return work(person, command);
  });
}

process.stdout.on("error", () => process.exit(1)); // whoever read us is gone
process.on("unhandledRejection", (error) => emit("warning", { what: String(error?.message ?? error) }));

await run(0, async () => {
  person = await signIn({ ...options, password: process.env.HUMAN_PASSWORD, crossSigning: !options["no-cross-signing"] });
  const { userId, deviceId, accessToken, crossSigned } = person;
  return { user: userId, device: deviceId, accessToken, crossSigned };
});

let chain = Promise.resolve();
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => { if (line.trim()) chain = chain.then(() => obey(line)); });
lines.on("close", () => chain.finally(() => process.exit(0)));
