/**
 * Runs on the audio thread: any sound in, 50 ms pieces of 16-bit mono PCM out, each with its peak.
 *
 * Posts `{samples: ArrayBuffer, peak: number}`; after "flush" posts what is left, then "flushed".
 */

const PIECE_S = 0.05;

class CaptureProcessor extends AudioWorkletProcessor {
  constructor() {
    super();
    this.size = Math.round(sampleRate * PIECE_S);
    this.flushed = false;
    this.startPiece();
    this.port.onmessage = () => this.flush();
  }

  /** @param {Float32Array[][]} inputs inputs × channels × 128 samples */
  process([channels]) {
    // No channels: the source has not started, or has ended. Nothing was heard, nothing is sent.
    for (let i = 0; i < (channels[0]?.length ?? 0); i++) this.take(mixed(channels, i));
    return !this.flushed;
  }

  take(sample) {
    // The scale that decoders divide by, so that a recording arrives bit for bit.
    const level = Math.max(-32768, Math.min(32767, Math.round(sample * 32768)));
    this.peak = Math.max(this.peak, Math.abs(level) / 32768);
    this.piece[this.filled++] = level;
    if (this.filled === this.size) this.post();
  }

  post() {
    const samples = this.piece.slice(0, this.filled).buffer;
    this.port.postMessage({ samples, peak: this.peak }, [samples]);
    this.startPiece();
  }

  startPiece() {
    this.piece = new Int16Array(this.size); // little-endian wherever browsers run
    this.filled = 0;
    this.peak = 0;
  }

  flush() {
    if (this.filled) this.post();
    this.flushed = true;
    this.port.postMessage("flushed");
  }
}

function mixed(channels, i) {
  let sum = 0;
  for (const channel of channels) sum += channel[i];
  return sum / channels.length;
}

registerProcessor("capture", CaptureProcessor);
