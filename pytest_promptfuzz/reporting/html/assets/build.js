// Elements of data: ["name.class class", {attribute: value}?, ...children]. A text is only ever a text.
const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "line", "rect", "circle", "polyline", "text"]);
const KNOWN = new Set(
  ("a article b bdi br button caption code dd del details div dl dt figcaption figure h1 h2 h3 ins li mark p pre section " +
    "small span strong summary table tbody td th thead tr ul wbr").split(" "),
);
const PAPER = 660; // pixels of a page's width that are printed on
const ATTRIBUTES = new Set(
  ("aria-hidden aria-label colspan cx cy data-trial dir height href id open points r role scope tabindex text-anchor title type " +
    "viewBox width x x1 x2 y y1 y2").split(" "),
);
const waiting = new WeakMap(); // folded elements, and what they will hold

function build(node) {
  if (typeof node === "string") return document.createTextNode(node);
  if (node[0].startsWith("=")) return build(SHORT[node[0]](node));
  const dot = node[0].indexOf(".");
  const name = dot < 0 ? node[0] : node[0].slice(0, dot);
  const drawn = DRAWN.has(name);
  if (!drawn && !KNOWN.has(name)) throw new Error(`unknown element ${name}`);
  const element = drawn ? document.createElementNS(SVG, name) : document.createElement(name);
  if (dot >= 0) element.setAttribute("class", node[0].slice(dot + 1));
  let first = 1;
  if (node.length > 1 && typeof node[1] === "object" && !Array.isArray(node[1])) {
    first = 2;
    for (const [key, value] of Object.entries(node[1])) {
      // The only addresses are views of this page.
      if (ATTRIBUTES.has(key) && (key !== "href" || value.startsWith("#/"))) element.setAttribute(key, value);
    }
  }
  let children = node.slice(first);
  if (element.classList.contains("lazy") && !element.open) {
    waiting.set(element, children.slice(1));
    children = children.slice(0, 1);
    element.addEventListener("toggle", () => fill(element), { once: true });
  }
  element.append(...children.map(build));
  return element;
}

// What a folded element holds, built when it is first opened.
function fill(element) {
  const children = waiting.get(element);
  if (!children) return;
  waiting.delete(element);
  element.append(...children.map(build));
}

// The page's data comes piece by piece: what is not there yet, or has no end yet, is there when all of the page is.
async function piece(id) {
  const found = holder(id);
  if (found?.nextElementSibling || document.readyState !== "loading") return found;
  await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  return holder(id);
}

// A page of a test stands in one element with others.
function holder(id) {
  return document.getElementById(id) ?? document.querySelector(`[data-holds~="${id}"]`);
}

async function unpack(id) {
  const text = atob((await piece(id)).textContent);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
