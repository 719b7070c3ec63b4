/**
 * One stream over one WebSocket, in the protocol of `/v1/listen`.
 *
 *   idle → connecting → open → finishing → closed
 *
 * Every path ends in `closed`, with one {@link Ending} that says how. The client opens no
 * microphone and touches no page: audio comes in by `sendAudio`, results go out by handlers.
 */

import { keyword } from "../boosts/boosts.js";

/** @typedef {"idle"|"connecting"|"open"|"finishing"|"closed"} ListenState */
/** @typedef {{phrase: string, weight: number|null}} Boost weight null: the server's choice */

/**
 * How a stream ended.
 * @typedef {object} Ending
 * @property {number} code WebSocket close code; 1006 where there was no close frame
 * @property {string} reason the server's close reason
 * @property {boolean} opened whether the handshake had succeeded
 * @property {boolean} complete whether the server said that all results were sent (Metadata)
 * @property {string|null} error text of the last Error message
 * @property {"closed"|"connect-timeout"|"finish-timeout"|"slow-network"|"abandoned"} cause
 */

/** @typedef {(phrase: string, description: string, how: {boosted: boolean}) => void} BoostRemark */

/**
 * @typedef {object} Handlers
 * @property {(state: ListenState) => void} [onState]
 * @property {(message: object) => void} [onMessage] any message, before it is understood
 * @property {(results: object) => void} [onResults] a Results message
 * @property {BoostRemark} [onBoostRemark]
 * @property {(outcome: {ok: boolean, description: string}) => void} [onConfigured]
 * @property {(ending: Ending) => void} [onEnding]
 */

export const LIMITS = Object.freeze({
  connectTimeoutMs: 10_000,
  finishTimeoutMs: 20_000,
  keepAliveMs: 5_000, // the server closes a stream that is silent for 10 s
  unsentAudioS: 10, // a network slower than speech: stop before the memory fills
});

const BYTES_PER_SAMPLE = 2;
const NORMAL_CLOSURE = 1000;
const SOCKET_OPEN = 1; // WebSocket.OPEN, which Node 20 does not know

/** Address of a stream on the server that served the page. */
export function listenUrl(base, { sampleRateHz, boosts = [], parameters = {} }) {
  const url = new URL("v1/listen", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const query = {
    encoding: "linear16",
    sample_rate: sampleRateHz,
    channels: 1,
    interim_results: true,
    warnings: true, // as messages of their own
    ...parameters,
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  for (const boost of boosts) url.searchParams.append("keywords", keyword(boost));
  return url.href;
}

export class ListenClient {
  /**
   * @param {object} options
   * @param {string} options.url from {@link listenUrl}
   * @param {number} options.sampleRateHz
   * @param {Handlers} options.handlers
   * @param {(url: string) => WebSocket} [options.openSocket]
   * @param {Pick<typeof globalThis, "setTimeout"|"clearTimeout">} [options.timers]
   */
  constructor({
    url,
    sampleRateHz,
    handlers,
    openSocket = (at) => new WebSocket(at),
    timers = globalThis,
  }) {
    this.url = url;
    this.handlers = handlers;
    /** @type {ListenState} */
    this.state = "idle";
    this.unsentLimit = LIMITS.unsentAudioS * sampleRateHz * BYTES_PER_SAMPLE;
    this.openSocket = openSocket;
    this.timers = timers;
    /** @type {ArrayBuffer[]} audio recorded while the handshake is under way */
    this.waitingAudio = [];
    this.waitingBytes = 0;
    /** @type {Boost[]|null} the newest boosts, not sent yet because an answer is outstanding */
    this.waitingBoosts = null;
    this.configuring = false;
    this.finishWanted = false;
    this.opened = false;
    this.complete = false;
    this.error = null;
  }

  /** Start the handshake. */
  connect() {
    this.#enter("connecting");
    this.socket = this.openSocket(this.url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.#opened();
    this.socket.onmessage = (event) => this.#receive(event.data);
    this.socket.onclose = (event) => this.#end("closed", event.code, event.reason);
    this.deadline = this.timers.setTimeout(
      () => this.#end("connect-timeout"),
      LIMITS.connectTimeoutMs,
    );
  }

  /** Send 16-bit little-endian mono samples; before the handshake is done they wait. */
  sendAudio(/** @type {ArrayBuffer} */ samples) {
    if (this.state === "connecting") return this.#keepForLater(samples);
    if (this.state !== "open" || this.socket.readyState !== SOCKET_OPEN) return undefined;
    if (this.socket.bufferedAmount > this.unsentLimit) return this.#end("slow-network");
    this.socket.send(samples);
    return this.#scheduleKeepAlive();
  }

  /** Replace the boosted phrases of the running stream. One request is outstanding at a time. */
  configure(/** @type {Boost[]} */ boosts) {
    if (this.state === "finishing" || this.state === "closed") return;
    this.waitingBoosts = boosts;
    this.#sendBoosts();
  }

  /** Ask for a final result of everything sent so far. */
  finalize() {
    if (this.state === "open") this.#say({ type: "Finalize" });
  }

  /** End the audio; the remaining results follow, then the ending. */
  finish() {
    this.finishWanted = true; // a sound may be over before the handshake is
    if (this.state !== "open") return;
    this.#say({ type: "CloseStream" });
    this.#enter("finishing");
    this.timers.clearTimeout(this.keepAlive);
    this.deadline = this.timers.setTimeout(
      () => this.#end("finish-timeout"),
      LIMITS.finishTimeoutMs,
    );
  }

  /** Drop the stream without waiting for its results. */
  abandon() {
    this.#end("abandoned", NORMAL_CLOSURE);
  }

  #opened() {
    this.timers.clearTimeout(this.deadline);
    this.opened = true;
    this.#enter("open");
    for (const samples of this.waitingAudio.splice(0)) this.sendAudio(samples);
    this.#sendBoosts();
    this.#scheduleKeepAlive();
    if (this.finishWanted) this.finish();
  }

  #keepForLater(samples) {
    this.waitingBytes += samples.byteLength;
    if (this.waitingBytes > this.unsentLimit) return this.#end("connect-timeout");
    this.waitingAudio.push(samples);
    return undefined;
  }

  #sendBoosts() {
    if (this.state !== "open" || this.configuring || this.waitingBoosts === null) return;
    this.#say({ type: "Configure", keywords: this.waitingBoosts.map(keyword) });
    this.waitingBoosts = null;
    this.configuring = true;
  }

  #scheduleKeepAlive() {
    this.timers.clearTimeout(this.keepAlive);
    if (this.state !== "open") return;
    this.keepAlive = this.timers.setTimeout(() => {
      this.#say({ type: "KeepAlive" });
      this.#scheduleKeepAlive();
    }, LIMITS.keepAliveMs);
  }

  #receive(data) {
    const message = JSON.parse(data);
    this.handlers.onMessage?.(message);
    switch (message.type) {
      case "Results":
        return this.handlers.onResults?.(message);
      case "ConfigureSuccess":
        return this.#configured(true, "");
      case "ConfigureFailure":
        return this.#configured(false, message.description ?? message.code);
      case "Warning":
        if (!message.phrase) return undefined; // of a parameter
        return this.handlers.onBoostRemark?.(message.phrase, message.description, {
          boosted: message.code !== "UNBOOSTABLE_PHRASE",
        });
      case "Error":
        this.error = message.description ?? message.message ?? null;
        return undefined;
      case "Metadata":
        this.complete = true;
        return undefined;
      default:
        return undefined; // newer servers may say more
    }
  }

  #configured(ok, description) {
    this.configuring = false;
    this.handlers.onConfigured?.({ ok, description });
    this.#sendBoosts();
  }

  #say(message) {
    // Between the server's close frame and the close event there is nobody to talk to.
    if (this.socket.readyState === SOCKET_OPEN) this.socket.send(JSON.stringify(message));
  }

  #enter(/** @type {ListenState} */ state) {
    this.state = state;
    this.handlers.onState?.(state);
  }

  #end(/** @type {Ending["cause"]} */ cause, code = 1006, reason = "") {
    if (this.state === "closed") return;
    this.timers.clearTimeout(this.deadline);
    this.timers.clearTimeout(this.keepAlive);
    this.waitingAudio.length = 0;
    this.#enter("closed");
    if (this.socket && cause !== "closed") this.socket.close(NORMAL_CLOSURE);
    const { opened, complete, error } = this;
    this.handlers.onEnding?.({ code, reason, opened, complete, error, cause });
  }
}
