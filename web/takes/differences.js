/**
 * Which words of two texts differ: those outside of the longest run of words that both have, in
 * order. Pure data.
 */

/** More would take too long: then nothing is marked. */
const MOST_WORDS = 2000;

/** @typedef {{text: string, differs: boolean}} Compared */

/** @param {string[]} left @param {string[]} right @returns {[Compared[], Compared[]]} */
export function differences(left, right) {
  const isTooLong = left.length * right.length > MOST_WORDS ** 2;
  const common = isTooLong ? null : commonWords(left.map(bare), right.map(bare));
  const marked = (words, side) =>
    words.map((text, i) => ({ text, differs: common !== null && !common[side].has(i) }));
  return [marked(left, 0), marked(right, 1)];
}

/** @returns {[Set<number>, Set<number>]} places in both texts of the words that they share */
function commonWords(left, right) {
  const lengths = commonLengths(left, right);
  const found = [new Set(), new Set()];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) {
      found[0].add(i++);
      found[1].add(j++);
    } else if (lengths[i + 1][j] >= lengths[i][j + 1]) i++;
    else j++;
  }
  return found;
}

/** lengths[i][j]: of the longest common run of left from i and right from j */
function commonLengths(left, right) {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      lengths[i][j] =
        left[i] === right[j]
          ? lengths[i + 1][j + 1] + 1
          : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  return lengths;
}

/** Capitals and marks are not what was heard. */
function bare(word) {
  return word.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
}
