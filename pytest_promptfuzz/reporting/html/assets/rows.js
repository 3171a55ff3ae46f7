// The rows of the table of tests: their data, and blocks of them that are built when they come near the window.
const table = document.getElementById("tests");
const VIRTUAL = 400; // with fewer rows, what was built stays, so that the browser's own search finds it
const SIZE = 40; // rows of a block
const NEAR = 1200; // pixels beyond the window in which blocks are built
const HEIGHTS = { group: 40, plain: 44, finding: 92 }; // before a block was seen

class Row {
  constructor([group, href, page, verdict, model, changed, keys, node]) {
    Object.assign(this, { group, href, page, verdict, model, changed: changed === 1, keys, node, said: "" });
  }

  // All that the row shows of its test, to be searched.
  get words() {
    this.said ||= [this.keys[1], this.model, spoken(this.node[1])].join("\n").toLowerCase();
    return this.said;
  }

  get height() {
    return this.node[1].some((each) => typeof each[0] === "string" && each[0] === "span.finding") ? HEIGHTS.finding : HEIGHTS.plain;
  }

  build() {
    return build(["tr", ...this.node]);
  }
}

class Group {
  constructor(node, rows) {
    Object.assign(this, { node, rows, closed: false, touched: false, height: HEIGHTS.group });
    this.file = spoken(node[1][2]);
    this.quiet = rows.every((row) => row.verdict === "pass" && !row.changed);
  }

  // The file's name becomes a button that folds its tests.
  build() {
    const made = build(this.node);
    const file = made.querySelector(".file");
    const button = build(["button.fold", { type: "button" }]);
    button.setAttribute("aria-expanded", String(!this.closed));
    file.replaceWith(button);
    button.append(file);
    button.addEventListener("click", () => fold(this));
    return made;
  }
}

function spoken(node) {
  if (typeof node === "string") return node;
  return node.slice(1).map((each) => (typeof each === "string" || Array.isArray(each) ? spoken(each) : "")).join("");
}

// A stretch of lines (rows and groups) as a table body: either built, or an empty row as high as they are.
class Block {
  constructor(lines, first) {
    this.lines = lines;
    this.first = first;
    this.body = document.createElement("tbody");
    this.built = false;
    this.tall = lines.reduce((sum, line) => sum + line.height, 0);
    this.empty();
  }

  empty() {
    const cell = document.createElement("td");
    cell.style.height = `${this.tall}px`;
    const row = document.createElement("tr");
    row.className = "empty";
    row.append(cell);
    this.body.replaceChildren(row);
    this.built = false;
  }

  fill() {
    if (this.built) return;
    const made = this.lines.map((line) => line.build());
    made.forEach((row, at) => row.setAttribute("aria-rowindex", String(this.first + at + 2)));
    this.body.replaceChildren(...made);
    this.built = true;
  }

  // Far away and without the focus, it only keeps its place.
  leave() {
    if (!this.built || this.body.contains(document.activeElement)) return;
    this.tall = this.body.getBoundingClientRect().height || this.tall;
    this.empty();
  }
}

const rows = [];
const groups = [];
let blocks = [];
let lines = []; // what is shown: groups and rows, in order
let watcher = null;

async function load() {
  if (!table) return;
  const data = await unpack("rows");
  for (const each of data.rows) rows.push(new Row(each));
  const byGroup = data.groups.map(() => []);
  for (const row of rows) byGroup[row.group].push(row);
  data.groups.forEach((node, at) => groups.push(new Group(node, byGroup[at])));
  if (rows.length > 100) for (const group of groups) group.closed = group.quiet && groups.length > 1;
}

function lay(chosen) {
  lines = chosen;
  watcher?.disconnect();
  for (const block of blocks) block.body.remove();
  blocks = [];
  for (let at = 0; at < lines.length; at += SIZE) blocks.push(new Block(lines.slice(at, at + SIZE), at));
  for (const body of [...table.tBodies]) body.remove();
  table.append(...blocks.map((block) => block.body));
  table.setAttribute("aria-rowcount", String(lines.length + 1));
  if (lines.length <= VIRTUAL) {
    for (const block of blocks) block.fill();
    return;
  }
  const at = new Map(blocks.map((block) => [block.body, block]));
  watcher = new IntersectionObserver(
    (entries) => {
      if (overview.hidden || printing) return;
      for (const entry of entries) {
        if (entry.isIntersecting) at.get(entry.target).fill();
        else at.get(entry.target).leave();
      }
    },
    { rootMargin: `${NEAR}px 0px` },
  );
  fillNear();
  for (const block of blocks) watcher.observe(block.body);
}

// What can be seen is built before it is shown.
function fillNear() {
  const near = blocks.filter((block) => {
    const box = block.body.getBoundingClientRect();
    return box.top < innerHeight && box.bottom > 0;
  });
  for (const block of near) block.fill();
}

// The link of a row, built if need be.
function linkOf(row) {
  const block = blocks.find((each) => each.lines.includes(row));
  if (!block) return null;
  block.fill();
  return block.body.rows[block.lines.indexOf(row)].querySelector("th a");
}

// The row that holds an element.
function rowOf(element) {
  const place = Number(element.closest("tr")?.getAttribute("aria-rowindex") ?? 0) - 2;
  return lines[place];
}

// Paper cannot be unfolded.
function unfold(within) {
  for (const details of within.querySelectorAll("details:not([open])")) {
    if (!details.checkVisibility()) continue;
    fill(details);
    details.dataset.printed = "";
    details.open = true;
    unfold(details);
  }
}

let printing = false;
window.addEventListener("beforeprint", () => {
  printing = true;
  for (const block of blocks) block.fill();
  unfold(document);
  for (const box of document.querySelectorAll(".heat, .models")) {
    const wide = box.scrollWidth;
    if (wide > PAPER) box.style.zoom = String(PAPER / wide);
  }
});
window.addEventListener("afterprint", () => {
  printing = false;
  for (const details of document.querySelectorAll("[data-printed]")) {
    details.open = false;
    delete details.dataset.printed;
  }
  for (const box of document.querySelectorAll(".heat, .models")) box.style.zoom = "";
});
