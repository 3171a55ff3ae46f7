// The table of tests: what is chosen, in which order; all of it stands in the address.
const table = document.getElementById("tests");
const rows = table ? [...table.tBodies[0].rows] : [];
const controls = document.getElementById("controls");
const fields = Object.fromEntries(
  ["find", "verdict", "model", "changed"].map((id) => [id, document.getElementById(id)]).filter(([, field]) => field),
);
const names = new Map(rows.map((row) => [row, row.querySelector("th").textContent.toLowerCase()]));
const order = { by: "", down: false };

function choose() {
  const words = (fields.find?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const verdict = fields.verdict?.value ?? "";
  const model = fields.model?.value ?? "";
  const changed = fields.changed?.checked ?? false;
  let shown = 0;
  for (const row of rows) {
    const fits =
      (!verdict || row.dataset.verdict === verdict) &&
      (!model || row.dataset.model === model) &&
      (!changed || "changed" in row.dataset) &&
      words.every((word) => names.get(row).includes(word));
    row.hidden = !fits;
    if (fits) shown += 1;
  }
  const count = document.getElementById("count");
  const all = rows.length === 1 ? "1 test" : `${rows.length.toLocaleString("en")} tests`;
  const said = shown === rows.length ? all : `${shown.toLocaleString("en")} of ${all}`;
  if (count.textContent !== said) count.textContent = said;
}

function sort(by, down) {
  order.by = by;
  order.down = down;
  const heads = [...table.tHead.rows[0].cells];
  const place = heads.findIndex((cell) => cell.querySelector(`[data-by="${CSS.escape(by)}"]`));
  for (const cell of heads) cell.removeAttribute("aria-sort");
  let sorted = rows;
  if (place >= 0) {
    heads[place].setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => {
      const cell = row.cells[place];
      return by === "test" ? names.get(row) : Number(cell?.dataset.by ?? -1);
    };
    const keys = new Map(rows.map((row) => [row, key(row)]));
    const compare = (one, other) => (keys.get(one) < keys.get(other) ? -1 : keys.get(one) > keys.get(other) ? 1 : 0);
    sorted = [...rows].sort((one, other) => (down ? compare(other, one) : compare(one, other)));
  }
  table.tBodies[0].append(...sorted);
}

function overviewHash() {
  const state = new URLSearchParams();
  if (fields.find?.value) state.set("q", fields.find.value);
  if (fields.verdict?.value) state.set("verdict", fields.verdict.value);
  if (fields.model?.value) state.set("model", fields.model.value);
  if (fields.changed?.checked) state.set("changed", "1");
  if (order.by) state.set("sort", (order.down ? "-" : "") + order.by);
  if (heat.kind !== heat.first) state.set("heat", heat.kind);
  const text = state.toString();
  return text ? `#/?${text}` : "#/";
}

function applyState(state) {
  const has = (field, value) => field && (value === "" || [...field.options].some((each) => each.value === value));
  if (fields.find) fields.find.value = state.get("q") ?? "";
  for (const [id, value] of [["verdict", state.get("verdict") ?? ""], ["model", state.get("model") ?? ""]]) {
    if (has(fields[id], value)) fields[id].value = value;
  }
  if (fields.changed) fields.changed.checked = state.get("changed") === "1";
  const wanted = state.get("sort") ?? "";
  const down = wanted.startsWith("-");
  if (table) {
    if (wanted !== (order.down ? "-" : "") + order.by) sort(down ? wanted.slice(1) : wanted, down);
    choose();
  }
  showHeat(state.get("heat") ?? heat.first);
}

function remember() {
  history.replaceState(null, "", overviewHash());
}

if (table) {
  controls.hidden = false;
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("input", () => {
    choose();
    remember();
  });
  controls.addEventListener("reset", () =>
    setTimeout(() => {
      choose();
      remember();
    }),
  );
  table.tHead.addEventListener("click", (event) => {
    const by = event.target.closest(".sort")?.dataset.by;
    if (!by) return;
    // Names from A, figures from the largest; a third click brings the worst first again.
    const first = by !== "test" && by !== "verdict" && by !== "score" && by !== "change";
    if (order.by !== by) sort(by, first);
    else if (order.down === first) sort(by, !first);
    else sort("", false);
    remember();
  });
}
