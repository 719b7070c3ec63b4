/**
 * The ribbon: the last seconds of sound as bars, coloured by how far the server has come.
 *
 *   heard (sent, no answer yet) → read (a partial covers it) → settled (a final covers it)
 *
 * Under the bars lie the words, at their times. The gap between the newest bar and the first read
 * one *is* the latency.
 */

/** @typedef {import("../takes/transcript.js").Transcript} Transcript */

const BAR_S = 0.05;
const BAR_PITCH_PX = 4;
const BAR_WIDTH_PX = 2;
const FILE_BAR_PX = 8;
const WORD_STRIP_PX = 8;
const QUIETEST_DB = -54;
const KEPT_BARS = 1200;
const SHOWN_PARAGRAPHS = 8;
const SILENT_PEAK = 1e-4;
const SILENT_FOR_BARS = 80;

/** 0 to 1 on a decibel scale, as ears hear it. */
export function loudness(peak) {
  if (peak <= 0) return 0;
  return Math.max(0, Math.min(1, 1 - (20 * Math.log10(peak)) / QUIETEST_DB));
}

export class LevelMeter {
  /** @param {HTMLCanvasElement} canvas @param {HTMLElement} meter element with role="meter" */
  constructor(canvas, meter) {
    this.canvas = canvas;
    this.meter = meter;
    this.sweeps = matchMedia("(prefers-reduced-motion: reduce)");
    this.start(null);
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Begin anew for a stream. @param {Transcript|null} transcript */
  start(transcript) {
    this.transcript = transcript;
    this.pointedAt = null;
    /** @type {number[]} */
    this.peaks = [];
    this.dropped = 0;
    this.silentBars = 0;
    /** How much of a file has been read, 0 to 1; null where there is none. */
    this.fraction = null;
    this.requestDraw();
  }

  /** Show how far a file is, whose sound is not at hand. @param {number} fraction 0 to 1 */
  showFile(fraction) {
    if (this.fraction === null) this.start(null);
    this.fraction = fraction;
    this.requestDraw();
  }

  /** @param {number} peak of one 50 ms piece */
  add(peak) {
    this.peaks.push(peak);
    if (this.peaks.length > KEPT_BARS) this.dropped += this.peaks.splice(0, KEPT_BARS / 2).length;
    this.silentBars = peak < SILENT_PEAK ? this.silentBars + 1 : 0;
    if (this.bars % 10 === 0) this.#describe(peak);
    this.requestDraw();
  }

  /** Whether nothing but digital silence came for some seconds: a muted microphone. */
  get isMute() {
    return this.silentBars >= SILENT_FOR_BARS;
  }

  get bars() {
    return this.dropped + this.peaks.length;
  }

  /** Mark a word's time. @param {{startS: number, endS: number}|null} word */
  pointAt(word) {
    this.pointedAt = word;
    this.requestDraw();
  }

  requestDraw() {
    this.drawing ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.drawing = null;
    const { width, height, pen } = this.#cleared();
    const colours = this.#colours();
    const first = this.#firstBar(Math.floor(width / BAR_PITCH_PX));
    const x = (seconds) => (seconds / BAR_S - first) * BAR_PITCH_PX;
    this.#drawMark(pen, x, height, colours);
    this.#drawBars(pen, first, width, height - WORD_STRIP_PX, colours);
    this.#drawWords(pen, x, height, colours);
  }

  /** Scrolls so that now is at the right; with reduced motion it fills page after page instead. */
  #firstBar(fit) {
    if (this.sweeps.matches) return Math.floor(Math.max(0, this.bars - 1) / fit) * fit;
    return Math.max(this.dropped, this.bars - fit);
  }

  #drawBars(pen, first, width, height, colours) {
    const middle = height / 2;
    const fit = Math.floor(width / BAR_PITCH_PX);
    for (let i = 0; i < fit; i++) {
      const peak = this.peaks[first + i - this.dropped];
      const read = this.fraction !== null && i < this.fraction * fit;
      const least = read ? FILE_BAR_PX : BAR_WIDTH_PX;
      const size = Math.max(least, loudness(peak ?? 0) * height);
      const stage = peak === undefined ? "empty" : this.#stage(first + i);
      pen.fillStyle = colours[read ? "settled" : stage];
      pen.beginPath();
      pen.roundRect(i * BAR_PITCH_PX, middle - size / 2, BAR_WIDTH_PX, size, 1);
      pen.fill();
    }
  }

  #drawWords(pen, x, height, colours) {
    if (!this.transcript) return;
    const strip = (words, colour) => {
      pen.fillStyle = colour;
      for (const { startS, endS } of words) {
        pen.fillRect(x(startS), height - 3, Math.max(2, x(endS) - x(startS) - 1), 2);
      }
    };
    strip(this.transcript.paragraphs.slice(-SHOWN_PARAGRAPHS).flat(), colours.settled);
    strip(this.transcript.partial.words, colours.read);
  }

  #drawMark(pen, x, height, colours) {
    if (!this.pointedAt) return;
    pen.fillStyle = colours.mark;
    const { startS, endS } = this.pointedAt;
    pen.fillRect(x(startS), 0, Math.max(3, x(endS) - x(startS)), height);
  }

  #stage(bar) {
    const endS = (bar + 1) * BAR_S;
    if (endS <= (this.transcript?.finalS ?? 0)) return "settled";
    return endS <= (this.transcript?.heardS ?? 0) ? "read" : "heard";
  }

  #cleared() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = devicePixelRatio;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    return { width, height, pen };
  }

  #colours() {
    const style = getComputedStyle(this.canvas);
    const names = ["empty", "heard", "read", "settled", "mark"];
    return Object.fromEntries(
      names.map((name) => [name, style.getPropertyValue(`--ribbon-${name}`)]),
    );
  }

  #describe(peak) {
    const percent = Math.round(loudness(peak) * 100);
    this.meter.setAttribute("aria-valuenow", String(percent));
    this.meter.setAttribute("aria-valuetext", percent < 15 ? "quiet" : `${percent} percent`);
  }
}
