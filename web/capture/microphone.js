/**
 * The microphone as a source. A source has a `name` and says what it waits for while `opening`. It
 * is opened (asks, may fail), started (sound flows) and closed; `again()` makes a fresh one.
 */

import { Capture } from "./capture.js";
import { problem, problemOfMicrophone } from "../problems/problems.js";
import { SourceError } from "../problems/source-error.js";

/** @typedef {import("./capture.js").Piece} Piece */

const MODEL_RATE_HZ = 16_000;

/** Those that the browser tells of; before it may use one it gives no names. */
export async function microphones() {
  const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
  return devices
    .filter(({ kind, deviceId, label }) => kind === "audioinput" && deviceId && label)
    .map(({ deviceId: id, label }) => ({ id, label }));
}

// Echo cancelling and noise suppression are made for people's ears; they gate soft consonants away.
function constraints(/** @type {string} */ device) {
  const audio = {
    channelCount: 1,
    echoCancellation: false,
    noiseSuppression: false,
    autoGainControl: true,
  };
  return { audio: device ? { ...audio, deviceId: { exact: device } } : audio };
}

export class Microphone {
  name = "Microphone";
  opening = "Waiting for the microphone";

  /** @param {string} device its id, "" for the browser's choice */
  constructor(device = "") {
    this.device = device;
  }

  /**
   * Ask for the microphone.
   * @param {(piece: Piece) => void} onPiece
   * @param {(error: SourceError|null) => void} onEnd the sound ended by itself
   * @returns {Promise<number>} the sample rate in Hz
   * @throws {SourceError}
   */
  async open(onPiece, onEnd) {
    this.stream = await requestMicrophone(this.device);
    const [track] = this.stream.getAudioTracks();
    track.onended = () => onEnd(new SourceError(problem("microphone-lost")));
    const { context, node } = connectedContext(this.stream);
    this.node = node;
    this.capture = await Capture.create(context, onPiece);
    return context.sampleRate;
  }

  start() {
    this.capture.listenTo(this.node);
  }

  /** The last piece arrives before this resolves. */
  async close() {
    await this.capture?.close();
    for (const track of this.stream?.getTracks() ?? []) track.stop();
  }

  again() {
    return new Microphone(this.device);
  }
}

async function requestMicrophone(device) {
  if (!globalThis.isSecureContext) throw new SourceError(problem("insecure-page"));
  if (!navigator.mediaDevices || !globalThis.AudioWorkletNode) {
    throw new SourceError(problem("unsupported-browser"));
  }
  try {
    return await navigator.mediaDevices.getUserMedia(constraints(device));
  } catch (error) {
    const known = problemOfMicrophone(error);
    throw known ? new SourceError(known, { cause: error }) : error;
  }
}

/** A third of the bytes where the browser resamples; Firefox refuses, and there the server does. */
function connectedContext(stream) {
  const context = new AudioContext({ sampleRate: MODEL_RATE_HZ });
  try {
    return { context, node: context.createMediaStreamSource(stream) };
  } catch {
    context.close();
    const native = new AudioContext();
    return { context: native, node: native.createMediaStreamSource(stream) };
  }
}
