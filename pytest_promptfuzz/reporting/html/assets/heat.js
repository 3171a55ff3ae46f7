// The heat map: which of its kinds is shown; and the rows of tables beyond the first ones.
const heat = { kind: "", first: "" };
const kinds = [...document.querySelectorAll("#heat-switch button")];

function showHeat(kind) {
  const known = kinds.some((button) => button.dataset.heat === kind);
  heat.kind = known ? kind : heat.first;
  for (const button of kinds) {
    const chosen = button.dataset.heat === heat.kind;
    button.setAttribute("aria-pressed", String(chosen));
    const block = document.getElementById(`heat-${button.dataset.heat}`);
    if (block) block.hidden = !chosen;
  }
}

if (kinds.length) {
  heat.first = heat.kind = "operators";
  const box = document.getElementById("heat-switch");
  box.hidden = false;
  box.addEventListener("click", (event) => {
    const kind = event.target.closest("button")?.dataset.heat;
    if (!kind) return;
    showHeat(kind);
    remember();
  });
}
const MORE = 200; // rows that are added at a time
for (const button of document.querySelectorAll(".more")) {
  button.hidden = false;
  let rest = null;
  button.addEventListener("click", async () => {
    button.disabled = true;
    const data = await unpack(button.dataset.chunk);
    rest ??= Array.isArray(data) ? data : data.rows.map(([name, cells]) => ["tr", name, ...cells.map((each) => data.cells[each])]);
    const more = rest.splice(0, MORE).map(build);
    document.getElementById(button.dataset.into).append(...more);
    more[0]?.querySelector("a")?.focus();
    button.textContent = `Show more (${rest.length.toLocaleString("en")} left)`;
    button.disabled = false;
    if (!rest.length) button.parentElement.remove();
  });
}
