/** A browser's storage with one entry. */
export function fakeStorage(stored = null) {
  return {
    stored,
    getItem() {
      return this.stored;
    },
    setItem(_, value) {
      this.stored = value;
    },
  };
}
