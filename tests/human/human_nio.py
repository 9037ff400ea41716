#!/usr/bin/env python3
"""A headless person with matrix-nio, in the manner of human.mjs: the same lines in and out, fewer commands."""
import argparse
import asyncio
import json
import os
import sys

import nio

ENCRYPTED = nio.AsyncClientConfig(encryption_enabled=True, store_sync_tokens=True)


def write(line):
    print(json.dumps(line), flush=True)


class Person:
    def __init__(self, options):
        self.seq = 0
        os.makedirs(options.store, exist_ok=True)
        self.client = nio.AsyncClient(options.hs, options.user, store_path=options.store, config=ENCRYPTED)
        self.client.add_event_callback(self.on_text, nio.RoomMessageText)
        self.client.add_event_callback(self.on_undecryptable, nio.MegolmEvent)
        self.client.add_event_callback(self.on_member, nio.RoomMemberEvent)
        self.client.add_event_callback(self.on_invite, nio.InviteMemberEvent)

    async def sign_in(self):
        checked(await self.client.login(os.environ["HUMAN_PASSWORD"]))
        checked(await self.client.sync(timeout=0, full_state=True))
        if self.client.should_upload_keys:
            checked(await self.client.keys_upload())
        self.syncing = asyncio.create_task(self.client.sync_forever(timeout=5000))
        return {"user": self.client.user_id, "device": self.client.device_id,
                "accessToken": self.client.access_token, "crossSigned": False}

    def emit(self, kind, room, event, **fields):
        self.seq += 1
        fields.update(room=room.room_id, sender=event.sender)
        write({"type": "event", "seq": self.seq, "kind": kind, **fields})

    async def on_text(self, room, event):
        self.emit("message", room, event, eventId=event.event_id, body=event.body, encrypted=event.decrypted)

    async def on_undecryptable(self, room, event):
        self.emit("undecryptable", room, event, eventId=event.event_id, session=event.session_id)

    async def on_member(self, room, event):
        self.emit("member", room, event, stateKey=event.state_key, content={"membership": event.membership})

    async def on_invite(self, room, event):
        if event.state_key == self.client.user_id:
            self.emit("my_membership", room, event, membership=event.membership, by=event.sender)

    async def join(self, command):
        room = checked(await self.client.join(command["room"])).room_id
        while room not in self.client.rooms:  # whoever asked has a deadline
            await asyncio.sleep(0.03)
        return {"room": room}

    async def send(self, command):
        content = {"msgtype": "m.text", "body": command["text"], "m.mentions": {}}
        sent = await self.client.room_send(command["room"], "m.room.message", content, ignore_unverified_devices=True)
        return {"eventId": checked(sent).event_id}


def checked(response):
    if isinstance(response, nio.ErrorResponse):
        raise RuntimeError(f"{response.status_code} {response.message}")
    return response


async def run(id, work):
    try:
        write({"type": "result", "id": id, "ok": True, **await work})
    except Exception as error:
        write({"type": "result", "id": id, "ok": False, "error": {"message": str(error) or type(error).__name__}})


async def main():
    parser = argparse.ArgumentParser()
    for name in ("--hs", "--user", "--store"):
        parser.add_argument(name, required=True)
    person = Person(parser.parse_args())
    await run(0, person.sign_in())
    lines = asyncio.StreamReader()
    reading = asyncio.StreamReaderProtocol(lines)
    await asyncio.get_running_loop().connect_read_pipe(lambda: reading, sys.stdin)
    while line := await lines.readline():
        command = json.loads(line)
        await run(command["id"], {"join": person.join, "send": person.send}[command["cmd"]](command))
    os._exit(0)  # a sync that is under way would hold the end up


asyncio.run(main())
