/**
 * The sheet with the code of a request, one language at a time.
 */

import { codeOf } from "./request-code.js";
import { element } from "../controls/elements.js";
import { openSheet } from "../controls/sheet.js";

/**
 * @param {HTMLDialogElement} sheet
 * @param {import("./request-code.js").Request} request
 */
export function showCode(sheet, request) {
  const choices = codeOf(request);
  const code = element("code", {});
  const note = element("p", { class: "note" });
  const copy = element("button", { type: "button" }, "Copy");
  copy.hidden = !navigator.clipboard; // without https there is none
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    copy.textContent = "Copied";
  });
  const buttons = choices.map((choice) =>
    element("button", { type: "button", onclick: () => show(choice) }, choice.label),
  );
  const show = (choice) => {
    code.textContent = choice.code;
    note.textContent = choice.note;
    copy.textContent = "Copy";
    choices.forEach((each, i) => buttons[i].setAttribute("aria-pressed", String(each === choice)));
  };
  const tabs = element("div", { class: "tabs", role: "group", "aria-label": "Language" });
  tabs.append(...buttons);
  const text = element("pre", { tabIndex: 0, role: "region", "aria-label": "Code" }, code);
  sheet.querySelector(".sheet-body").replaceChildren(tabs, text, note, copy);
  show(choices[0]);
  openSheet(sheet);
}
