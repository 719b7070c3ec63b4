/**
 * Keeps a phone's screen on while it listens: a phone that locks stops the microphone.
 */

/** @param {Promise<void>} over when the screen may go dark again */
export async function awakeUntil(over) {
  try {
    const lock = await navigator.wakeLock?.request("screen");
    await over;
    await lock?.release();
  } catch (error) {
    // Refused on low battery or in a background tab: listening goes on without it.
    if (error.name !== "NotAllowedError") throw error;
  }
}
