/**
 * A recorded clip as a source: played aloud, and streamed at the pace it plays.
 *
 * It takes the microphone's place in front of the same capture, socket and transcript, so that
 * someone without a microphone sees the service at work on real speech.
 */

import { Capture } from "./capture.js";
import { problem } from "../problems/problems.js";
import { SourceError } from "../problems/source-error.js";

/** @typedef {{file: string, title: string, text: string, seconds: number}} Sample */

const MODEL_RATE_HZ = 16_000;

export class Clip {
  opening = "Loading the recording";

  /** @param {Sample} sample @param {string} address of the sound file */
  constructor(sample, address) {
    this.sample = sample;
    this.name = sample.title;
    this.spoken = sample.text;
    this.address = address;
  }

  /** As {@link import("./microphone.js").Microphone.open}; the clip's end calls `onEnd(null)`. */
  async open(onPiece, onEnd) {
    if (!globalThis.AudioWorkletNode) {
      throw new SourceError(
        problem(globalThis.isSecureContext ? "unsupported-browser" : "insecure-page"),
      );
    }
    const context = new AudioContext({ sampleRate: MODEL_RATE_HZ });
    this.capture = await Capture.create(context, onPiece);
    // Nothing runs until `start`, so that what is sent begins with the clip's first sample.
    await context.suspend();
    const buffer = await fetchSound(context, this.address);
    this.player = new AudioBufferSourceNode(context, { buffer });
    this.player.connect(context.destination);
    this.player.onended = () => onEnd(null);
    this.capture.listenTo(this.player);
    return context.sampleRate;
  }

  start() {
    this.player.start();
    this.capture.context.resume();
  }

  /** The last piece arrives before this resolves. */
  async close() {
    if (this.player) this.player.onended = null;
    await this.capture?.close();
  }

  again() {
    return new Clip(this.sample, this.address);
  }
}

/** @returns {Promise<AudioBuffer>} decoded and resampled to the context's rate */
async function fetchSound(context, address) {
  try {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address}: ${response.status}`);
    return await context.decodeAudioData(await response.arrayBuffer());
  } catch (error) {
    throw new SourceError(problem("clip-unreadable"), { cause: error });
  }
}
