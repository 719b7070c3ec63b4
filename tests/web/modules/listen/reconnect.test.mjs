import assert from "node:assert/strict";
import { test } from "node:test";

import { Reconnect, WAITS_S } from "../../../../web/listen/reconnect.js";

function fakeTimers() {
  return {
    waiting: [],
    setTimeout(run, ms) {
      this.waiting.push({ run, ms });
      return this.waiting.length - 1;
    },
    clearTimeout(id) {
      this.waiting[id] = null;
    },
  };
}

test("each attempt waits longer, and there is a last one", () => {
  const timers = fakeTimers();
  const reconnect = new Reconnect(timers);
  const waits = WAITS_S.map(() => reconnect.schedule(() => {}));
  assert.deepEqual(waits, [...WAITS_S]);
  assert.deepEqual(timers.waiting.map(({ ms }) => ms), WAITS_S.map((s) => s * 1000));
  assert.equal(reconnect.schedule(() => {}), null);
});

test("words that come again make the next break a first one", () => {
  const reconnect = new Reconnect(fakeTimers());
  for (const _ of WAITS_S) reconnect.schedule(() => {});
  reconnect.succeeded();
  assert.equal(reconnect.schedule(() => {}), WAITS_S[0]);
});

test("an attempt that is cancelled does not come", () => {
  const timers = fakeTimers();
  const reconnect = new Reconnect(timers);
  reconnect.schedule(() => {});
  reconnect.cancel();
  assert.deepEqual(timers.waiting, [null]);
});
