/**
 * The sound of a take, as it was sent, to be played and heard again. It stays in the page.
 */

export const MOST_S = 600;
const BYTES_PER_SAMPLE = 2;
const HEADER_BYTES = 44;
const PCM = 1;

export class Recording {
  /** @type {ArrayBuffer[]} 16-bit mono samples */
  #pieces = [];
  #seconds = 0;

  /** Keep a piece, in the first ten minutes. @param {import("./capture.js").Piece} piece */
  add({ samples, seconds }) {
    if (this.#seconds >= MOST_S) return;
    this.#seconds += seconds;
    this.#pieces.push(samples);
  }

  /** As a WAV file; null where nothing was heard. @returns {Blob|null} */
  wav() {
    if (!this.#pieces.length) return null;
    const bytes = this.#pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
    const rate = Math.round(bytes / BYTES_PER_SAMPLE / this.#seconds);
    return new Blob([header(bytes, rate), ...this.#pieces], { type: "audio/wav" });
  }
}

function header(bytes, rate) {
  const view = new DataView(new ArrayBuffer(HEADER_BYTES));
  const tag = (at, text) => [...text].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)));
  tag(0, "RIFF");
  view.setUint32(4, HEADER_BYTES - 8 + bytes, true);
  tag(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, PCM, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * BYTES_PER_SAMPLE, true);
  view.setUint16(32, BYTES_PER_SAMPLE, true);
  view.setUint16(34, 8 * BYTES_PER_SAMPLE, true);
  tag(36, "data");
  view.setUint32(40, bytes, true);
  return view;
}
