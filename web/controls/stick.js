/**
 * A column beside the words that stays in sight, and scrolls with them as far as it is too tall for
 * the window: so it needs no scroll box of its own.
 */

/**
 * @param {HTMLElement} column sticky at `--stick-at`
 * @param {HTMLElement} dock covers the bottom of the window
 */
export function stick(column, dock) {
  const place = () => {
    const room = innerHeight - dock.offsetHeight;
    const { height } = column.getBoundingClientRect();
    column.style.setProperty("--stick-at", `${Math.min(0, Math.floor(room - height))}px`);
  };
  const watch = new ResizeObserver(place);
  watch.observe(column);
  watch.observe(dock);
  addEventListener("resize", place);
}
