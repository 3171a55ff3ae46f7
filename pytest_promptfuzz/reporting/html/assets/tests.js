// Choosing tests and their order; all of it stands in the address.
const controls = document.getElementById("controls");
const fields = Object.fromEntries(
  ["find", "model", "changed"].map((id) => [id, document.getElementById(id)]).filter(([, field]) => field),
);
const tiles = [...document.querySelectorAll(".tile")];
const order = { by: "", down: false };
let verdict = "";
let chosen = []; // the rows that fit, in the order in which they are shown

function choose() {
  const words = (fields.find?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const model = fields.model?.value ?? "";
  const changed = fields.changed?.checked ?? false;
  const fits = (row) =>
    (!verdict || row.verdict === verdict) &&
    (!model || row.model === model) &&
    (!changed || row.changed) &&
    words.every((word) => row.words.includes(word));
  const all = Boolean(words.length || verdict || model || changed);
  chosen = sorted(all ? rows.filter(fits) : rows);
  lay(order.by ? chosen : inGroups(all));
  for (const tile of tiles) {
    if (tile.dataset.verdict === verdict) tile.setAttribute("aria-current", "true");
    else tile.removeAttribute("aria-current");
  }
  table.classList.toggle("is-flat", Boolean(order.by));
  count(words.length > 0);
}

// Rows under the file that they are of. What is closed of itself is open where something was chosen.
function inGroups(narrowed) {
  const fitting = new Set(chosen);
  const made = [];
  for (const group of groups) {
    const mine = group.rows.filter((row) => fitting.has(row));
    if (!mine.length) continue;
    if (!group.touched) group.closed = !narrowed && group.quiet && rows.length > 100 && groups.length > 1;
    made.push(group);
    if (!group.closed) made.push(...mine);
  }
  return made;
}

function fold(group) {
  group.closed = !group.closed;
  group.touched = true;
  choose();
  const block = blocks.find((each) => each.lines.includes(group));
  block.fill();
  block.body.rows[block.lines.indexOf(group)].querySelector("button").focus({ preventScroll: true });
}

function count(searched) {
  const all = rows.length === 1 ? "1 test" : `${rows.length.toLocaleString("en")} tests`;
  let said = chosen.length === rows.length ? all : `${chosen.length.toLocaleString("en")} of ${all}`;
  if (searched && chosen.length) said += ". Enter opens the first.";
  const box = document.getElementById("count");
  if (box.textContent !== said) box.textContent = said;
}

function sorted(some) {
  const heads = [...table.tHead.rows[0].cells];
  for (const cell of heads) cell.removeAttribute("aria-sort");
  const sorting = heads.filter((cell) => cell.querySelector(".sort"));
  const place = sorting.findIndex((cell) => cell.querySelector(".sort").dataset.by === order.by);
  if (place < 0) {
    order.by = "";
    return some;
  }
  sorting[place].setAttribute("aria-sort", order.down ? "descending" : "ascending");
  const way = order.down ? -1 : 1;
  const compare = (one, other) =>
    one.keys[place] < other.keys[place] ? -way : one.keys[place] > other.keys[place] ? way : 0;
  return [...some].sort(compare);
}

function overviewHash() {
  const state = new URLSearchParams();
  if (fields.find?.value) state.set("q", fields.find.value);
  if (verdict) state.set("verdict", verdict);
  if (fields.model?.value) state.set("model", fields.model.value);
  if (fields.changed?.checked) state.set("changed", "1");
  if (order.by) state.set("sort", (order.down ? "-" : "") + order.by);
  if (heat.kind !== heat.first) state.set("heat", heat.kind);
  const text = state.toString();
  return text ? `#/?${text}` : "#/";
}

function applyState(state) {
  if (table && rows.length) {
    const was = overviewHash();
    if (fields.find) fields.find.value = state.get("q") ?? "";
    const named = state.get("verdict") ?? "";
    verdict = tiles.some((tile) => tile.dataset.verdict === named) ? named : "";
    const model = state.get("model") ?? "";
    if (fields.model && [...fields.model.options].some((each) => each.value === model)) fields.model.value = model;
    if (fields.changed) fields.changed.checked = state.get("changed") === "1";
    const wanted = state.get("sort") ?? "";
    order.down = wanted.startsWith("-");
    order.by = order.down ? wanted.slice(1) : wanted;
    if (!blocks.length || was !== overviewHash()) choose();
  }
  showHeat(state.get("heat") ?? heat.first);
}

function remember() {
  history.replaceState(null, "", overviewHash());
}

function changeState() {
  choose();
  remember();
}

function ready() {
  if (!rows.length) return;
  controls.hidden = false;
  controls.addEventListener("submit", (event) => {
    event.preventDefault();
    if (chosen.length) location.hash = chosen[0].href;
  });
  controls.addEventListener("input", changeState);
  controls.addEventListener("reset", () => {
    verdict = "";
    setTimeout(changeState);
  });
  for (const tile of tiles) {
    tile.addEventListener("click", (event) => {
      event.preventDefault();
      verdict = verdict === tile.dataset.verdict ? "" : tile.dataset.verdict;
      changeState();
    });
  }
  table.tHead.addEventListener("click", (event) => {
    const by = event.target.closest(".sort")?.dataset.by;
    if (!by) return;
    // Names from A, figures from the largest; a third click brings the files back, the worst first.
    const first = !["test", "verdict", "score", "change"].includes(by);
    if (order.by !== by) Object.assign(order, { by, down: first });
    else if (order.down === first) order.down = !first;
    else Object.assign(order, { by: "", down: false });
    changeState();
  });
  for (const box of [controls, table]) box.addEventListener("keydown", step);
}

// The arrows lead from the field to the first test, and from test to test.
function step(event) {
  const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const link = event.target.closest("#tests a");
  if (!way || !(link || event.target === fields.find)) return;
  const shown = lines.filter((line) => line instanceof Row);
  const place = link ? shown.indexOf(rowOf(link)) + way : way > 0 ? 0 : -1;
  event.preventDefault();
  if (place < 0) fields.find.focus();
  else if (shown[place]) linkOf(shown[place])?.focus();
}
