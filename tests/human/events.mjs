// What a person's client shows, as JSON lines. Kinds: message, edit, reaction, redaction, redacted, undecryptable (told
// again as what it is, with `late`, if its key comes after all), member, my_membership, state, typing, presence, receipt,
// refusal (of a room key, by this client), warning, other.
import { ClientEvent, MatrixEventEvent, RoomEvent, UserEvent } from "matrix-js-sdk";
import { EventShieldReason } from "matrix-js-sdk/lib/crypto-api/index.js";

/** How long a key may take before an event counts as undecryptable. */
const KEY_MS = 8000;

const SHIELDS = ["none", "grey", "red"];
let seq = 0;
const seen = new Set();
const typists = new Set();

export const write = (line) => process.stdout.write(JSON.stringify(line) + "\n");
export const emit = (kind, fields) => write({ type: "event", seq: ++seq, kind, ...fields });
export const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Tells of everything that the client hears from now on. */
export function listen(client) {
  client.on(RoomEvent.Timeline, (event, _room, toStart) => onTimeline(client, event, toStart));
  client.on(RoomEvent.MyMembership, (room, membership, was) => {
    const by = room.getMember(client.getUserId())?.events?.member;
    emit("my_membership", { room: room.roomId, membership, was, by: by?.getSender(), reason: by?.getContent().reason });
  });
  client.on(UserEvent.Presence, (_event, { userId, presence, presenceStatusMsg }) =>
    emit("presence", { sender: userId, presence, status: presenceStatusMsg }));
  client.on(RoomEvent.Receipt, (event, room) => onReceipt(event, room));
  client.on(ClientEvent.Event, (event) => event.getType() === "m.typing" && onTyping(client));
}

/** Tells whom this client says that they get no room key, and why. */
export function tellRefusals({ messages }) {
  for (const [user, devices] of Object.entries(messages))
    for (const { code, room_id: room } of Object.values(devices)) emit("refusal", { room, user, code });
}

/** Looked for, as the client passes on what members do only in rooms into which it was not invited first. */
function onTyping(client) {
  for (const room of client.getRooms())
    for (const { userId, typing } of room.getMembers()) {
      const who = room.roomId + userId;
      if (userId === client.getUserId() || typing === typists.has(who)) continue;
      typing ? typists.add(who) : typists.delete(who);
      emit("typing", { room: room.roomId, sender: userId, typing });
    }
}

function onReceipt(event, room) {
  for (const [eventId, kinds] of Object.entries(event.getContent()))
    for (const sender of Object.keys(kinds["m.read"] ?? {})) emit("receipt", { room: room.roomId, sender, readUpTo: eventId });
}

async function onTimeline(client, event, toStart) {
  if (toStart || event.status || seen.has(event.getId())) return; // history, a local echo, or told already
  seen.add(event.getId());
  await settle(event);
  const kind = kindOf(event);
  if (kind === "undecryptable") {
    event.on(MatrixEventEvent.Decrypted, async (late, error) => {
      if (!error && !late.isDecryptionFailure()) emit(kindOf(late), { ...(await describe(client, late)), late: true });
    });
  }
  emit(kind, await describe(client, event));
}

/** Waits until an event is decrypted, or is not going to be. */
export async function settle(event, ms = KEY_MS) {
  const end = Date.now() + ms;
  while (event.isEncrypted() && event.getType() === "m.room.encrypted" && Date.now() < end) {
    if (event.isDecryptionFailure()) return;
    await delay(20);
  }
}

export function kindOf(event) {
  const type = event.getType();
  if ((event.isEncrypted() && event.isDecryptionFailure()) || type === "m.room.encrypted") return "undecryptable";
  if (event.isRedacted()) return "redacted";
  if (type === "m.room.message") return event.getContent()["m.relates_to"]?.rel_type === "m.replace" ? "edit" : "message";
  const others = { "m.reaction": "reaction", "m.room.redaction": "redaction", "m.room.member": "member" };
  return others[type] ?? (event.isState() ? "state" : "other");
}

/** What a test wants to know of an event; `shield` is what a client would draw beside it. */
export async function describe(client, event) {
  const content = event.getContent();
  const told = {
    room: event.getRoomId(), eventId: event.getId(), sender: event.getSender(), ts: event.getTs(),
    evType: event.getType(), encrypted: event.isEncrypted(), stateKey: event.isState() ? event.getStateKey() : undefined,
    relates: content["m.relates_to"] ?? event.getWireContent()["m.relates_to"],
  };
  if (event.isEncrypted()) Object.assign(told, await encryption(client, event));
  const shown = content["m.new_content"] ?? content;
  if (content.msgtype) Object.assign(told, {
    msgtype: content.msgtype, body: content.body, mentions: content["m.mentions"], newBody: content["m.new_content"]?.body,
    format: shown.format, html: shown.formatted_body,
  });
  else if (event.getType() !== "m.room.encrypted") told.content = content;
  return told;
}

async function encryption(client, event) {
  const { device_id: senderDevice, session_id: session } = event.getWireContent();
  if (event.isDecryptionFailure()) return { senderDevice, session, failure: event.decryptionFailureReason };
  const info = await client.getCrypto().getEncryptionInfoForEvent(event);
  const reason = info?.shieldReason ?? null;
  const shield = info && { colour: SHIELDS[info.shieldColour], reason: reason === null ? null : EventShieldReason[reason] };
  return { senderDevice, session, shield };
}
