/**
 * Any node of an audio graph becomes pieces of PCM. The microphone and the recorded clips go
 * through here, so a clip shows exactly what a microphone would.
 */

/** @typedef {{samples: ArrayBuffer, seconds: number, peak: number}} Piece */

const FLUSH_WITHIN_MS = 1_000;

export class Capture {
  /**
   * @param {AudioContext} context closed by {@link Capture.close}
   * @param {(piece: Piece) => void} onPiece
   */
  static async create(context, onPiece) {
    try {
      await context.audioWorklet.addModule(new URL("../capture-worklet.js", import.meta.url));
      await context.resume();
      return new Capture(context, onPiece);
    } catch (error) {
      await context.close(); // nobody else will: there is no capture to close
      throw error;
    }
  }

  constructor(context, onPiece) {
    this.context = context;
    this.node = new AudioWorkletNode(context, "capture", { numberOfOutputs: 0 });
    /** @type {Promise<void>|null} */
    this.closed = null;
    this.flushed = new Promise((resolve) => {
      this.node.port.onmessage = ({ data }) => {
        if (data === "flushed") return resolve(true);
        const seconds = data.samples.byteLength / 2 / context.sampleRate;
        return onPiece({ ...data, seconds });
      };
    });
  }

  /** @param {AudioNode} source */
  listenTo(source) {
    source.connect(this.node);
  }

  /** Hand over the last, incomplete piece, then free the audio device. */
  close() {
    this.closed ??= this.#close();
    return this.closed;
  }

  async #close() {
    this.node.port.postMessage("flush");
    // A phone that suspends the page suspends the audio thread too: do not wait for it for ever.
    await Promise.race([
      this.flushed,
      new Promise((resolve) => setTimeout(resolve, FLUSH_WITHIN_MS)),
    ]);
    await this.context.close();
  }
}
