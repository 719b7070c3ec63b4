import assert from "node:assert/strict";
import { test } from "node:test";

import { problemOfEnding, problemOfMicrophone, problemOfUpload } from "../../../web/problems/problems.js";

const FINE = { reachable: true, ready: true, full: false };
const ended = (changes) => ({
  code: 1006,
  reason: "",
  opened: true,
  complete: false,
  error: null,
  cause: "closed",
  ...changes,
});
const keyOf = (changes, server = FINE) => problemOfEnding(ended(changes), server)?.key ?? null;

test("a stream that ended as it should is no problem", () => {
  assert.equal(keyOf({ code: 1000, complete: true }), null);
  assert.equal(keyOf({ cause: "abandoned", code: 1000 }), null);
});

test("a refused handshake is told by the server's condition", () => {
  assert.equal(
    keyOf({ opened: false }, { reachable: false, ready: false, full: false }),
    "server-unreachable",
  );
  assert.equal(keyOf({ opened: false }, { ...FINE, full: true }), "server-full");
  assert.equal(keyOf({ opened: false }, { ...FINE, ready: false }), "server-not-ready");
  assert.equal(keyOf({ opened: false }), "handshake-refused");
});

for (const [code, reason, key] of [
  [1006, "", "connection-lost"],
  [1009, "", "message-too-big"],
  [1011, "NET-0001: no audio", "no-audio-arrived"],
  [1011, "NET-0000: internal error", "server-error"],
  [1012, "the server is restarting", "server-stopping"],
  [1013, "NET-0002: busy", "server-behind"],
  [1008, "DATA-0000: odd bytes", "audio-not-understood"],
  [1008, "DATA-0002: mode", "request-refused"],
  [1008, "NET-0004: slow", "results-unread"],
  [4999, "", "connection-lost"],
]) {
  test(`close code ${code} ${reason} is ${key}`, () => assert.equal(keyOf({ code, reason }), key));
}

test("a drained stream is complete, and still a reason to reconnect", () => {
  assert.equal(keyOf({ code: 1012, complete: true }), "server-stopping");
});

test("a broken connection to a dead server says that the server is dead", () => {
  assert.equal(keyOf({}, { reachable: false, ready: false, full: false }), "server-unreachable");
});

test("what the server said about it is passed on", () => {
  assert.match(
    problemOfEnding(ended({ code: 1011, error: "disk on fire" }), FINE).advice,
    /disk on fire/,
  );
});

test("each cause on this side has its own words", () => {
  const keys = ["connect-timeout", "finish-timeout", "slow-network"].map((cause) =>
    keyOf({ cause }),
  );
  assert.deepEqual(keys, ["server-unreachable", "no-final-answer", "network-too-slow"]);
});

test("the microphone's refusals are told apart, a fault of ours is not one", () => {
  const keys = ["NotAllowedError", "NotFoundError", "NotReadableError", "TypeError"].map(
    (name) => problemOfMicrophone({ name })?.key ?? null,
  );
  assert.deepEqual(keys, ["permission-denied", "no-microphone", "microphone-busy", null]);
});

test("a refused file is told by the server's code, else by the status", () => {
  assert.equal(
    problemOfUpload(400, { err_code: "UNDECODABLE_AUDIO", err_msg: "a zip" }).key,
    "file-not-audio",
  );
  assert.match(
    problemOfUpload(400, { err_code: "UNDECODABLE_AUDIO", err_msg: "a zip" }).advice,
    /a zip/,
  );
  assert.equal(problemOfUpload(429).key, "server-full");
  assert.equal(problemOfUpload(413).key, "file-too-big");
  assert.equal(problemOfUpload(0).key, "server-unreachable");
  assert.equal(problemOfUpload(502).key, "file-failed");
});
