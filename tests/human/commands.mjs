// What a person can be told to do. Each takes {client, ...} and the command's fields, and gives the result's fields.
import { UserId } from "@matrix-org/matrix-sdk-crypto-wasm";
import { AllDevicesIsolationMode, OnlySignedDevicesIsolationMode } from "matrix-js-sdk/lib/crypto-api/index.js";
import { delay, describe, kindOf, settle } from "./events.mjs";
import { held, late, release } from "./session.mjs";

/** How long a room may take into the client's sync. */
const SYNC_MS = 20_000;

/** How long a message is tried again. */
const INSIST_MS = 60_000;

export const commands = {
  // {name?, encrypted?, version?, invite[]?, history?, direct?}
  async create_room({ client }, c) {
    const state = (type, content) => ({ type, state_key: "", content });
    const initial_state = [];
    if (c.encrypted) initial_state.push(state("m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" }));
    if (c.history) initial_state.push(state("m.room.history_visibility", { history_visibility: c.history }));
    const made = await client.createRoom({
      name: c.name, invite: c.invite, is_direct: c.direct, preset: "private_chat", room_version: c.version, initial_state,
    });
    await synced(client, made.room_id, c.encrypted);
    return { room: made.room_id };
  },
  // {room, encrypted?}
  async join({ client }, c) {
    const { roomId } = await client.joinRoom(c.room);
    await synced(client, roomId, c.encrypted);
    return { room: roomId };
  },
  leave: async ({ client }, c) => (await client.leave(c.room), {}),
  // {room, user, reason?}: gives the invited the keys of what was said before (MSC4268), where the room's history is shared
  async invite({ client }, c) {
    await client.invite(c.room, c.user, { reason: c.reason });
    return {};
  },
  kick: async ({ client }, c) => (await client.kick(c.room, c.user, c.reason), {}),
  ban: async ({ client }, c) => (await client.ban(c.room, c.user, c.reason), {}),
  // {room, text, mentions[]?, replyTo?, txn?, more?}: the same txn again is the same event; more is put into its content
  async send({ client }, c) {
    return sendContent(client, c, { ...words(c.text, c), ...c.more });
  },
  // {room, text}: tries the same event again until the homeserver takes it, as clients do when somebody presses "retry"
  async insist({ client }, c) {
    const room = await synced(client, c.room);
    const txn = client.makeTxnId();
    let sending = client.sendEvent(c.room, "m.room.message", words(c.text, c), txn);
    const event = room.getEventForTxnId(txn);
    for (let tries = 1, end = Date.now() + INSIST_MS; ; tries++, await delay(50)) {
      const eventId = await sending.then((sent) => sent.event_id, () => null);
      // it may have come back though no answer has
      if (eventId || !event.status) return { eventId: eventId ?? event.getId(), tries };
      if (Date.now() > end) throw event.error;
      sending = client.resendEvent(event, room);
    }
  },
  // {room, eventId, text}
  async edit({ client }, c) {
    const relates = { "m.relates_to": { rel_type: "m.replace", event_id: c.eventId } };
    return sendContent(client, c, { ...words("* " + c.text, c), "m.new_content": words(c.text, c), ...relates });
  },
  // {room, eventId, key}: puts a sign beside a message
  async react({ client }, c) {
    await synced(client, c.room);
    const relates = { "m.relates_to": { rel_type: "m.annotation", event_id: c.eventId, key: c.key } };
    return { eventId: (await client.sendEvent(c.room, "m.reaction", relates)).event_id };
  },
  redact: async ({ client }, c) => ({ eventId: (await client.redactEvent(c.room, c.eventId)).event_id }),
  typing: async ({ client }, c) => (await client.sendTyping(c.room, c.on, 30_000), {}),
  // {room, n?}: the newest messages, decrypted, oldest first
  async read({ client }, c) {
    const timeline = (await synced(client, c.room)).getLiveTimeline();
    const isMessage = (event) => ["m.room.message", "m.room.encrypted"].includes(event.getType());
    const wanted = c.n ?? 20;
    while (timeline.getEvents().filter(isMessage).length < wanted)
      if (!(await client.paginateEventTimeline(timeline, { backwards: true, limit: 50 }))) break;
    const events = timeline.getEvents().filter((event) => !event.status && isMessage(event)).slice(-wanted);
    return { messages: await Promise.all(events.map((event) => decrypted(client, event))) };
  },
  // {mxc}: somebody's picture as small as clients show it beside a message
  async picture({ client, accessToken }, c) {
    const url = client.mxcUrlToHttp(c.mxc, 32, 32, "crop", false, true, true);
    const response = await fetch(url, { headers: { Authorization: `Bearer ${accessToken}` } });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, contentType: response.headers.get("content-type"), bytes: bytes.length };
  },
  // {user}: what this client can say of somebody's devices
  async devices({ client }, c) {
    const crypto = client.getCrypto();
    const crossSigningKeys = await crypto.userHasCrossSigningKeys(c.user, true);
    const infos = (await crypto.getUserDeviceInfo([c.user], true)).get(c.user) ?? new Map();
    const devices = await Promise.all([...infos.values()].map(async ({ deviceId }) => {
      const status = await crypto.getDeviceVerificationStatus(c.user, deviceId);
      return { device: deviceId, signedByOwner: status?.signedByOwner ?? false, verified: status?.crossSigningVerified ?? false };
    }));
    const status = await crypto.getUserVerificationStatus(c.user);
    return { crossSigningKeys, devices, identity: { verified: status.isVerified(), changed: status.needsUserApproval } };
  },
  // {user}: as after the two have compared emojis
  async verify_user({ client }, c) {
    const crypto = client.getCrypto();
    const machine = crypto.getOlmMachineOrThrow?.() ?? crypto.olmMachine;
    const identity = await machine.getIdentity(new UserId(c.user));
    if (!identity) throw new Error("no cross-signing identity for " + c.user);
    const { body } = await identity.verify();
    const path = "/_matrix/client/v3/keys/signatures/upload";
    const { failures = {} } = await client.http.authedRequest("POST", path, undefined, JSON.parse(body), { prefix: "" });
    if (Object.keys(failures).length) throw new Error("the signature was refused: " + JSON.stringify(failures));
    await eventually(async () => (await crypto.getUserVerificationStatus(c.user)).isVerified(), "the signature in the sync");
    return {};
  },
  // {strict}: keys only to and from devices that their owner cross-signed (MSC4153)
  async isolation({ client }, c) {
    client.getCrypto().setDeviceIsolationMode(c.strict ? new OnlySignedDevicesIsolationMode() : new AllDevicesIsolationMode(false));
    return {};
  },
  // {on}: keys only to devices of users whom this person has verified, an option of many clients
  async verified_only({ client }, c) {
    client.getCrypto().globalBlacklistUnverifiedDevices = c.on;
    return {};
  },
  // {room}: the next message begins a new Megolm session
  new_session: async ({ client }, c) => (await client.getCrypto().forceDiscardSession(c.room), {}),
  // {ms}: from now on keys reach others so much later than the messages that need them; 0 is at once
  delay_keys: async (_person, c) => ((late.ms = c.ms), {}),
  // {user}: from now on room keys do not reach this user; `hold_no_more` ends that for later ones, `release_keys` sends
  // those that were held
  hold_keys: async (_person, c) => (held.users.add(c.user), {}),
  hold_no_more: async (_person, c) => (held.users.delete(c.user), {}),
  release_keys: async (_person, c) => (await release(c.user), {}),
};

async function eventually(look, what) {
  for (const end = Date.now() + SYNC_MS; Date.now() < end; await delay(30)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error("waited in vain for " + what);
}

/** The room once the client knows that it is in it, and that it is encrypted where it has to be. */
function synced(client, roomId, encrypted = false) {
  const known = (room) => room?.getMyMembership() === "join" && (!encrypted || room.hasEncryptionStateEvent());
  return eventually(() => (known(client.getRoom(roomId)) ? client.getRoom(roomId) : null), roomId + " in the sync");
}

function words(body, { mentions = [], replyTo }) {
  const content = { msgtype: "m.text", body, "m.mentions": mentions.length ? { user_ids: mentions } : {} };
  if (replyTo) content["m.relates_to"] = { "m.in_reply_to": { event_id: replyTo } };
  return content;
}

async function sendContent(client, c, content) {
  await synced(client, c.room);
  const { event_id: eventId } = await client.sendEvent(c.room, "m.room.message", content, c.txn);
  return { eventId };
}

async function decrypted(client, event) {
  await client.decryptEventIfNeeded(event);
  await settle(event, 3000);
  return { kind: kindOf(event), ...(await describe(client, event)) };
}
