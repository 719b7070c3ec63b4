/**
 * One take: a source of sound, its stream to the server, and what came back.
 *
 *   opening → connecting → open → finishing → closed
 */

import { EventLog } from "./event-log.js";
import { lateMs, RunningMedian, SentClock } from "./latency.js";
import { ListenClient, listenUrl } from "./listen-client.js";
import { Recording } from "../capture/recording.js";
import { problem, problemOfEnding } from "../problems/problems.js";
import { SourceError } from "../problems/source-error.js";
import { Transcript } from "../takes/transcript.js";

/** @typedef {"opening"|import("./listen-client.js").ListenState} SessionState */
/** @typedef {import("../capture/microphone.js").Microphone} Microphone */
/** @typedef {import("../capture/clip.js").Clip} Clip */

/**
 * @typedef {object} SessionHandlers
 * @property {(state: SessionState) => void} onState
 * @property {(piece: import("../capture/capture.js").Piece) => void} onPiece
 * @property {() => void} onEvent a message came
 * @property {() => void} onTranscript the transcript or a latency changed
 * @property {import("./listen-client.js").BoostRemark} onBoostRemark
 * @property {(outcome: {ok: boolean, description: string}) => void} onConfigured
 * @property {(problem: import("../problems/problems.js").Problem|null) => void} onEnd
 */

/** What is said when a worklet or a recording could not be used, or not even loaded. */
const LOADED = new Set(["sound-failed", "clip-unreadable"]);

export class Session {
  transcript = new Transcript();
  events = new EventLog();
  recording = new Recording();
  sent = new SentClock();
  latency = { partial: new RunningMedian(), final: new RunningMedian() };
  /** @type {SessionState} */
  state = "opening";
  /** Address of its request, once there is one. @type {string|null} */
  url = null;

  /**
   * @param {object} options
   * @param {Microphone|Clip} options.source
   * @param {import("./server.js").Server} options.server
   * @param {SessionHandlers} options.handlers
   */
  constructor({ source, server, handlers }) {
    this.source = source;
    this.server = server;
    this.handlers = handlers;
    this.ended = false;
    /** Whether somebody wanted its end: what breaks then is not to begin again. */
    this.isUnwanted = false;
    /** Resolves when all is over. @type {Promise<void>} */
    this.over = new Promise((resolve) => {
      this.resolveOver = resolve;
    });
  }

  /** Whether the server ever took the stream. */
  get wasOpen() {
    return this.client?.opened ?? false;
  }

  /**
   * Open the source, then the stream.
   * @param {import("./listen-client.js").Boost[]} boosts
   * @param {Record<string, string>} parameters what else is asked for
   */
  async start(boosts, parameters) {
    this.#enter("opening");
    try {
      const rate = await this.source.open(
        (piece) => this.#send(piece),
        (error) => this.#sourceEnded(error),
      );
      if (this.ended) return this.source.close(); // cancelled while the browser was asking
      this.client = this.#connect(rate, boosts, parameters);
      this.source.start();
    } catch (error) {
      await this.#startFailed(error);
    }
  }

  /** End the sound and wait for the last words; where nothing has begun yet, give it up. */
  async stop() {
    this.isUnwanted = true;
    if (this.client?.state === "connecting") return this.client.abandon();
    return this.client ? this.#finish() : this.#end(null);
  }

  configure(/** @type {import("./listen-client.js").Boost[]} */ boosts) {
    this.client?.configure(boosts);
  }

  finalize() {
    this.client?.finalize();
  }

  /** Sources load from the server too: where it is gone, nothing is wrong with the sound. */
  async #startFailed(error) {
    const found = error instanceof SourceError ? error.problem : problem("sound-failed");
    const gone = LOADED.has(found.key) && !(await this.server.condition()).reachable;
    await this.#end(gone ? problem("server-unreachable") : found);
    if (found.key === "sound-failed" && !gone) throw error;
  }

  #connect(sampleRateHz, boosts, parameters) {
    const { onBoostRemark, onConfigured } = this.handlers;
    this.url = listenUrl(this.server.base, { sampleRateHz, boosts, parameters });
    const client = new ListenClient({
      url: this.url,
      sampleRateHz,
      handlers: {
        onState: (state) => this.#enter(state),
        onMessage: (message) => this.#log(message),
        onResults: (results) => this.#take(results),
        onBoostRemark,
        onConfigured,
        onEnding: (ending) => this.#streamEnded(ending),
      },
    });
    this.connectedMs = performance.now();
    client.connect();
    return client;
  }

  #send(piece) {
    this.client.sendAudio(piece.samples);
    this.recording.add(piece);
    this.sent.record(piece.seconds, performance.now());
    this.handlers.onPiece(piece);
  }

  #log(message) {
    this.events.add(message, (performance.now() - this.connectedMs) / 1000);
    this.handlers.onEvent();
  }

  #take(results) {
    this.transcript.apply(results);
    const late = lateMs(results, this.sent, performance.now());
    if (late !== null) this.latency[results.is_final ? "final" : "partial"].add(late);
    this.handlers.onTranscript();
  }

  #sourceEnded(error) {
    this.sourceProblem = error?.problem ?? null;
    this.#finish();
  }

  async #finish() {
    await this.source.close(); // hands over its last piece
    if (this.client) this.client.finish();
    else await this.#end(this.sourceProblem);
  }

  async #streamEnded(ending) {
    const fine = problemOfEnding(ending, { reachable: true, ready: true, full: false }) === null;
    const found = fine ? null : problemOfEnding(ending, await this.server.condition());
    await this.#end(found ?? this.sourceProblem ?? null);
  }

  async #end(found) {
    if (this.ended) return;
    this.ended = true;
    await this.source.close();
    this.#enter("closed");
    this.handlers.onEnd(found);
    this.resolveOver();
  }

  #enter(state) {
    // The stream is closed before its source is: only #end says that all of it is over.
    if (state === "closed" && !this.ended) return;
    this.state = state;
    this.handlers.onState(state);
  }
}
