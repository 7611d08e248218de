/* Builds elements. What a result says is only ever set as text, never as markup. */

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== ""));
  return made;
}

/* A link where there is a page, else the text alone: a result that was dropped on the page has none. */
function linked(page, ...children) {
  return page ? element("a", { href: page }, ...children) : element("span", {}, ...children);
}

function byId(id) {
  return document.getElementById(id);
}
