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
  // What is beside the sheet belongs to it, as its backdrop. A press that began inside, as where
  // text is selected, is no click beside it.
  let isBeside = false;
  sheet.onpointerdown = (event) => {
    isBeside = liesBeside(sheet, event);
  };
  sheet.onclick = (event) => {
    if (isBeside && liesBeside(sheet, event)) sheet.close();
  };
  sheet.showModal();
}

function liesBeside(sheet, { target, clientX: x, clientY: y }) {
  const { left, right, top, bottom } = sheet.getBoundingClientRect();
  return target === sheet && (x < left || x > right || y < top || y > bottom);
}
