// Small helpers around the document. Text is always set as text: names come from strangers.

export const byId = (id) => document.getElementById(id);

// element("td", {class: "number"}, "text", child, ...)
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
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

// Makes `wanted` the children of `parent`. What is in its place already is not touched, so nothing flickers, and
// whatever has the focus keeps it.
export function arrange(parent, wanted) {
  const focused = document.activeElement;
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  wanted.forEach((child, place) => {
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
  });
  if (focused && focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

let announced = 0;

// Says something to those who listen to the page instead of looking at it.
export function announce(text) {
  announced += 1;
  byId("announcer").textContent = announced % 2 ? text : `${text}\u00a0`; // the same text twice is said twice
}
