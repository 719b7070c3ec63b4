/** Builds elements, so that text never passes through an HTML parser. */

/**
 * @param {string} tag
 * @param {Record<string, unknown>} [properties] `class`, `aria-*`, `data-*` and `role` become
 *   attributes, `on*` listeners, the rest properties
 * @param {...(Node|string)} children
 * @returns {any}
 */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on"))
      node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (/^(class|for|role|aria-|data-)/.test(name)) node.setAttribute(name, String(value));
    else node[name] = value;
  }
  node.append(...children);
  return node;
}

/** The element with this id; a typing mistake fails at once. @returns {any} */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`no element has the id ${id}`);
  return node;
}
