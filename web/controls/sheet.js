/**
 * A sheet over the page: opened by a button, closed by its own, by Escape, or by a click beside it.
 */

/** @param {HTMLDialogElement} sheet @param {HTMLElement} opener @param {() => void} [onOpen] */
export function sheetOf(sheet, opener, onOpen = () => {}) {
  opener.addEventListener("click", () => {
    onOpen();
    openSheet(sheet);
  });
}

export function openSheet(/** @type {HTMLDialogElement} */ sheet) {
  sheet.querySelector(".close").onclick = () => sheet.close();
  // What is beside the sheet belongs to it, as its backdrop.
  sheet.onclick = ({ target }) => {
    if (target === sheet) sheet.close();
  };
  // The page stops listening at Escape, which here means the sheet alone.
  sheet.onkeydown = (event) => {
    if (event.key === "Escape") event.stopPropagation();
  };
  sheet.showModal();
}
