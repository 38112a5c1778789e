// Helpers for the document. Text is always set as text, never as markup: participants choose their own names.

export const byId = (id) => document.getElementById(id);

// Returns a new element: element("td", {class: "number"}, "text", child, ...)
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// Returns a link to another site, or only its text unless the address is one of the web.
export function link(text, address) {
  if (!/^https?:\/\//i.test(address ?? "")) return text;
  return element("a", { href: address, target: "_blank", rel: "nofollow noopener noreferrer" }, text);
}

export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

export function setAttribute(target, name, value) {
  if (value == null || value === false) {
    if (target.hasAttribute(name)) target.removeAttribute(name);
  } else if (target.getAttribute(name) !== String(value)) {
    target.setAttribute(name, value);
  }
}

// Sets the children of `parent`. Children that are in place already are not touched, so nothing flickers, and the focus
// stays where it is.
export function setChildren(parent, wanted) {
  const focused = document.activeElement;
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  wanted.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  if (focused && focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

let announcements = 0;

// Announces something to screen readers.
export function announce(text) {
  announcements += 1;
  byId("announcer").textContent = announcements % 2 ? text : `${text}\u00a0`; // so that the same text is read again
}
