import assert from "node:assert/strict";
import { test } from "node:test";

import { LIMITS, ListenClient, listenUrl } from "../../../../web/listen/listen-client.js";

class FakeSocket {
  sent = [];
  bufferedAmount = 0;
  readyState = 1;
  closedWith = null;
  send(data) {
    this.sent.push(data);
  }
  close(code) {
    this.closedWith = code;
  }
  said() {
    return this.sent.filter((data) => typeof data === "string").map((text) => JSON.parse(text));
  }
  answer(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

class FakeTimers {
  pending = new Map();
  nextId = 1;
  setTimeout = (run, ms) => {
    this.pending.set(this.nextId, { run, ms });
    return this.nextId++;
  };
  clearTimeout = (id) => this.pending.delete(id);
  fire(ms) {
    for (const [id, timer] of [...this.pending]) {
      if (timer.ms === ms) {
        this.pending.delete(id);
        timer.run();
      }
    }
  }
}

function connected({ open = true } = {}) {
  const socket = new FakeSocket();
  const timers = new FakeTimers();
  const log = { states: [], results: [], configured: [], remarks: [], endings: [] };
  const client = new ListenClient({
    url: "ws://host/v1/listen",
    sampleRateHz: 16000,
    openSocket: () => socket,
    timers,
    handlers: {
      onState: (state) => log.states.push(state),
      onResults: (results) => log.results.push(results),
      onConfigured: (outcome) => log.configured.push(outcome),
      onBoostRemark: (...remark) => log.remarks.push(remark),
      onEnding: (ending) => log.endings.push(ending),
    },
  });
  client.connect();
  if (open) socket.onopen();
  return { client, socket, timers, log };
}

test("the address names the audio and the boosts, and keeps the page's security", () => {
  const url = new URL(
    listenUrl("https://host/earshot/", {
      sampleRateHz: 48000,
      boosts: [
        { phrase: "smart mirror", weight: 4 },
        { phrase: "jarvis", weight: 2.5 },
      ],
    }),
  );
  assert.equal(url.protocol, "wss:");
  assert.equal(url.pathname, "/earshot/v1/listen");
  assert.equal(url.searchParams.get("sample_rate"), "48000");
  assert.equal(url.searchParams.get("warnings"), "true");
  assert.deepEqual(url.searchParams.getAll("keywords"), ["smart mirror:4", "jarvis:2.5"]);
});

test("a stream goes from connecting to open, finishing and closed", () => {
  const { client, socket, log } = connected();
  client.finish();
  assert.deepEqual(socket.said(), [{ type: "CloseStream" }]);
  socket.answer({ type: "Metadata" });
  socket.onclose({ code: 1000, reason: "" });
  assert.deepEqual(log.states, ["connecting", "open", "finishing", "closed"]);
  assert.equal(log.endings.length, 1);
  assert.equal(log.endings[0].complete, true);
});

test("audio recorded during the handshake is sent first, in order", () => {
  const { client, socket } = connected({ open: false });
  const pieces = [new ArrayBuffer(2), new ArrayBuffer(4)];
  pieces.forEach((piece) => client.sendAudio(piece));
  assert.deepEqual(socket.sent, []);
  socket.onopen();
  assert.deepEqual(socket.sent, pieces);
});

test("a sound that is over before the handshake is sent whole, then closed", () => {
  const { client, socket } = connected({ open: false });
  const piece = new ArrayBuffer(2);
  client.sendAudio(piece);
  client.finish();
  assert.deepEqual(socket.sent, []);
  socket.onopen();
  assert.deepEqual(socket.sent, [piece, '{"type":"CloseStream"}']);
  assert.equal(client.state, "finishing");
});

test("audio after the end is not sent", () => {
  const { client, socket } = connected();
  client.finish();
  client.sendAudio(new ArrayBuffer(2));
  assert.equal(socket.sent.length, 1);
});

test("nothing is sent once the server has begun to close", () => {
  const { client, socket } = connected();
  socket.readyState = 2;
  client.sendAudio(new ArrayBuffer(2));
  client.finalize();
  assert.deepEqual(socket.sent, []);
});

test("a handshake without an answer ends the stream", () => {
  const { socket, timers, log } = connected({ open: false });
  timers.fire(LIMITS.connectTimeoutMs);
  assert.equal(log.endings[0].cause, "connect-timeout");
  assert.equal(socket.closedWith, 1000);
});

test("a handshake that takes longer than audio may wait ends the stream", () => {
  const { client, log } = connected({ open: false });
  client.sendAudio(new ArrayBuffer(LIMITS.unsentAudioS * 16000 * 2 + 2));
  assert.equal(log.endings[0].cause, "connect-timeout");
});

test("a network slower than speech ends the stream before memory fills", () => {
  const { client, socket, log } = connected();
  socket.bufferedAmount = LIMITS.unsentAudioS * 16000 * 2 + 1;
  client.sendAudio(new ArrayBuffer(2));
  assert.equal(log.endings[0].cause, "slow-network");
});

test("a server that never finishes is not waited for", () => {
  const { client, timers, log } = connected();
  client.finish();
  timers.fire(LIMITS.finishTimeoutMs);
  assert.equal(log.endings[0].cause, "finish-timeout");
});

test("silence from the microphone keeps the stream alive", () => {
  const { client, socket, timers } = connected();
  timers.fire(LIMITS.keepAliveMs);
  timers.fire(LIMITS.keepAliveMs);
  assert.deepEqual(socket.said(), [{ type: "KeepAlive" }, { type: "KeepAlive" }]);
  client.finish();
  timers.fire(LIMITS.keepAliveMs);
  assert.equal(socket.said().filter(({ type }) => type === "KeepAlive").length, 2);
});

test("one Configure is outstanding at a time and the newest boosts win", () => {
  const { client, socket, log } = connected();
  client.configure([{ phrase: "a", weight: 1 }]);
  client.configure([{ phrase: "b", weight: 2 }]);
  client.configure([{ phrase: "c", weight: 3 }]);
  assert.deepEqual(socket.said(), [{ type: "Configure", keywords: ["a:1"] }]);
  socket.answer({ type: "ConfigureSuccess" });
  assert.deepEqual(socket.said().at(-1), { type: "Configure", keywords: ["c:3"] });
  assert.equal(socket.said().length, 2);
  socket.answer({ type: "ConfigureFailure", code: "X", description: "too many" });
  assert.deepEqual(log.configured, [
    { ok: true, description: "" },
    { ok: false, description: "too many" },
  ]);
});

test("boosts changed during the handshake are sent when it is done", () => {
  const { client, socket } = connected({ open: false });
  client.configure([{ phrase: "a", weight: 1 }]);
  socket.onopen();
  assert.deepEqual(socket.said(), [{ type: "Configure", keywords: ["a:1"] }]);
});

test("warnings, results and unknown messages are told apart", () => {
  const { socket, log } = connected();
  socket.answer({
    type: "Warning",
    code: "UNBOOSTABLE_PHRASE",
    phrase: "björk",
    description: "no ö",
  });
  socket.answer({ type: "Warning", code: "CHANGED_VALUE", phrase: "a", description: "6 at most" });
  socket.answer({ type: "Warning", code: "UNSUPPORTED_LANGUAGE", description: "no" });
  socket.answer({ type: "FromTheFuture" });
  socket.answer({ type: "Results", start: 0 });
  assert.deepEqual(log.remarks, [
    ["björk", "no ö", { boosted: false }],
    ["a", "6 at most", { boosted: true }],
  ]);
  assert.equal(log.results.length, 1);
});

test("a lost connection tells its code, reason and the server's last error", () => {
  const { socket, log } = connected();
  socket.answer({ type: "Error", description: "the audio is NaN" });
  socket.onclose({ code: 1008, reason: "DATA-0000: the audio is NaN" });
  assert.deepEqual(log.endings, [
    {
      code: 1008,
      reason: "DATA-0000: the audio is NaN",
      opened: true,
      complete: false,
      error: "the audio is NaN",
      cause: "closed",
    },
  ]);
});

test("a stream cancelled during the handshake is abandoned once", () => {
  const { client, socket, log } = connected({ open: false });
  client.abandon();
  socket.onclose({ code: 1006, reason: "" });
  assert.deepEqual(
    log.endings.map(({ cause }) => cause),
    ["abandoned"],
  );
});
