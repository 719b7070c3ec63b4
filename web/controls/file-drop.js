/**
 * Files by picker or by dropping them anywhere on the page.
 */

/**
 * @param {HTMLInputElement} picker
 * @param {HTMLElement} curtain shown while a file is held over the page
 * @param {(file: File) => void} onFile
 */
export function acceptFiles(picker, curtain, onFile) {
  picker.addEventListener("change", () => {
    for (const file of picker.files ?? []) onFile(file);
    picker.value = ""; // so that the same file can be chosen again
  });
  const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    curtain.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) curtain.hidden = true; // left the window, not an element
  });
  addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    curtain.hidden = true;
    for (const file of event.dataTransfer.files) onFile(file);
  });
}
