// Signing in: a client that syncs, with a device that is cross-signed by its owner unless it was told not to be.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { ClientEvent, createClient } from "matrix-js-sdk";
import { logger } from "matrix-js-sdk/lib/logger.js";
import { emit, listen, tellRefusals } from "./events.mjs";

const FIRST_SYNC_MS = 60_000;

/** Room keys leave the client this much later than it believes; see `delay_keys`. */
export const late = { ms: 0 };

/** Room keys for these users stay in the client, which believes that they went; see `hold_keys`. */
export const held = { users: new Set(), letters: [] };

/** Sends what was held back for a user after all. */
export async function release(user) {
  held.users.delete(user);
  const letters = held.letters.filter((letter) => letter.user === user);
  held.letters = held.letters.filter((letter) => letter.user !== user);
  for (const { url, init } of letters) {
    const response = await fetch(url, init);
    if (!response.ok) throw new Error("the homeserver refuses held keys: " + response.status);
  }
}

/** Puts the messages for held users aside, each as a request of its own; gives the request without them. */
function holdBack(url, init) {
  const body = JSON.parse(init.body);
  const aside = Object.keys(body.messages).filter((user) => held.users.has(user));
  for (const user of aside) {
    const own = JSON.stringify({ messages: { [user]: body.messages[user] } });
    const address = String(url) + "." + held.letters.length + "." + Date.now();
    held.letters.push({ user, url: address, init: { method: init.method, headers: init.headers, body: own } });
    delete body.messages[user];
  }
  return { ...init, body: JSON.stringify(body) };
}

/** Fetches as ever, but takes its time over to-device messages while the client goes on. */
async function fetchFn(url, init) {
  if (String(url).includes("/sendToDevice/m.room_key.withheld/")) tellRefusals(JSON.parse(init.body));
  if (!String(url).includes("/sendToDevice/m.room.encrypted/")) return fetch(url, init);
  if (held.users.size) init = holdBack(url, init);
  if (!late.ms) return fetch(url, init);
  // The client's signal ends what it gave up; it has not given up this.
  setTimeout(() => fetch(url, { ...init, signal: undefined }), late.ms);
  return new Response("{}", { status: 200, headers: { "Content-Type": "application/json" } });
}

/** Logs in by password; gives {client, userId, deviceId, accessToken, crossSigned}. */
export async function signIn({ hs, user, password, keys, crossSigning }) {
  const session = await logIn(hs, user, password);
  const vault = { recoveryKey: await recoveryKey(keys) };
  const person = { userId: session.user_id, deviceId: session.device_id, accessToken: session.access_token, password };
  person.client = createClient({
    baseUrl: hs, userId: person.userId, deviceId: person.deviceId, accessToken: person.accessToken,
    timelineSupport: true, logger, fetchFn, cryptoCallbacks: secretStorage(vault),
  });
  listen(person.client);
  // In memory: a process is a device, and a new process is a new device.
  await person.client.initRustCrypto({ useIndexedDB: false });
  const crypto = person.client.getCrypto();
  crypto.setTrustCrossSignedDevices(true);
  await person.client.startClient({ initialSyncLimit: 30, lazyLoadMembers: false, pollTimeout: 10_000 });
  await firstSync(person.client);
  if (crossSigning) await signDevice(person, vault, keys);
  person.crossSigned = crossSigning && (await crypto.isCrossSigningReady());
  return person;
}

async function logIn(hs, user, password) {
  const response = await fetch(hs + "/_matrix/client/v3/login", {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ type: "m.login.password", identifier: { type: "m.id.user", user }, password }),
  });
  const body = await response.json();
  if (!response.ok) throw Object.assign(new Error(body.error), { errcode: body.errcode, httpStatus: response.status });
  return body;
}

async function recoveryKey(file) {
  if (!file || !existsSync(file)) return null;
  return Uint8Array.from(Buffer.from(JSON.parse(await readFile(file)).recoveryKey, "base64"));
}

function secretStorage(vault) {
  return {
    getSecretStorageKey: async ({ keys }) => (vault.recoveryKey ? [Object.keys(keys)[0], vault.recoveryKey] : null),
    cacheSecretStorageKey: (_id, _info, key) => { vault.recoveryKey = key; },
  };
}

function firstSync(client) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the first sync timed out")), FIRST_SYNC_MS);
    const look = (state) => {
      if (state !== "PREPARED" && state !== "SYNCING") return;
      clearTimeout(late);
      client.off(ClientEvent.Sync, look);
      resolve();
    };
    client.on(ClientEvent.Sync, look);
  });
}

async function signDevice({ client, userId, password }, vault, file) {
  const crypto = client.getCrypto();
  const authUploadDeviceSigningKeys = async (request) => {
    try {
      return await request(null);
    } catch (error) {
      if (error.httpStatus !== 401) throw error;
      const identifier = { type: "m.id.user", user: userId };
      return request({ type: "m.login.password", session: error.data?.session, identifier, password });
    }
  };
  const known = await crypto.userHasCrossSigningKeys(userId, true);
  await crypto.bootstrapCrossSigning({ authUploadDeviceSigningKeys, setupNewCrossSigning: !known });
  if (!file) return;
  if (vault.recoveryKey) await restoreBackup(crypto);
  else await makeBackup(crypto, vault, file);
}

async function makeBackup(crypto, vault, file) {
  const made = await crypto.createRecoveryKeyFromPassphrase();
  vault.recoveryKey = made.privateKey;
  const createSecretStorageKey = async () => made;
  await crypto.bootstrapSecretStorage({ createSecretStorageKey, setupNewSecretStorage: true, setupNewKeyBackup: true });
  const recoveryKey = Buffer.from(made.privateKey).toString("base64");
  await writeFile(file, JSON.stringify({ recoveryKey }), { mode: 0o600 });
}

async function restoreBackup(crypto) {
  try {
    await crypto.loadSessionBackupPrivateKeyFromSecretStorage();
    await crypto.checkKeyBackupAndEnable();
    await crypto.restoreKeyBackup();
  } catch (error) {
    emit("warning", { what: "key backup: " + error.message });
  }
}
