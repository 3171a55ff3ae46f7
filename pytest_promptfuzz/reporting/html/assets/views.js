// Which view is shown: "#/" with its state, or "#/test/NAME" with a trial of it.
const overview = document.getElementById("overview");
const page = document.getElementById("test");
const steps = document.getElementById("steps");
const views = new Map(); // a test's address, decoded, and its row
for (const row of rows) {
  const link = row.querySelector("th a");
  if (link && row.dataset.chunk) views.set(plain(link.getAttribute("href")), row);
}
const left = { hash: "#/", row: null, top: 0 }; // the overview as it was left
const title = document.title;
let current = 0;

function plain(address) {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

async function show() {
  const turn = (current += 1);
  const hash = location.hash || "#/";
  await showView(hash, turn);
  if (turn === current) document.documentElement.dataset.shown = hash;
}

async function showView(hash, turn) {
  if (hash.startsWith("#/test/")) {
    const [address, search] = hash.split("?");
    const row = views.get(plain(address));
    if (row) {
      await showTest(row, new URLSearchParams(search ?? "").get("trial"), turn);
      return;
    }
    showMissing(plain(address.slice("#/test/".length)));
    return;
  }
  if (!hash.startsWith("#/")) return; // the link over the header
  showOverview(new URLSearchParams(hash.split("?")[1] ?? ""));
}

function showOverview(state) {
  const back = overview.hidden;
  page.hidden = true;
  steps.hidden = true;
  overview.hidden = false;
  document.title = title;
  applyState(state);
  if (back) {
    window.scrollTo(0, left.top);
    left.row?.querySelector("th a")?.focus({ preventScroll: true });
  } else if (state.get("verdict")) {
    table?.closest("section").scrollIntoView();
  }
  left.row = null;
}

async function showTest(row, trial, turn) {
  let nodes;
  try {
    nodes = await unpack(row.dataset.chunk);
  } catch (error) {
    nodes = [["h1", { tabindex: "-1" }, "This page cannot be shown"], ["p.alarm", `The browser cannot read its data: ${error.message}`]];
  }
  if (turn !== current) return;
  leave();
  left.row = row;
  page.replaceChildren(...nodes.map(build));
  const chosen = trial && [...page.querySelectorAll("[data-trial]")].find((each) => each.dataset.trial === trial);
  document.title = `${page.querySelector("h1").textContent} · ${title}`;
  stepsFrom(row);
  if (chosen) {
    chosen.open = true;
    fill(chosen);
    chosen.scrollIntoView();
    chosen.querySelector("summary").focus({ preventScroll: true });
  } else {
    window.scrollTo(0, 0);
    page.querySelector("h1").focus({ preventScroll: true });
  }
}

function showMissing(name) {
  leave();
  left.row = null;
  const said = ["p", "This report holds no such test: ", ["code", ["bdi", name.slice(0, 300)]]];
  page.replaceChildren(...[["h1", { tabindex: "-1" }, "No such test"], said].map(build));
  stepsFrom(null);
  page.querySelector("h1").focus();
}

function leave() {
  if (!overview.hidden) {
    left.hash = overviewHash();
    left.top = window.scrollY;
  }
  overview.hidden = true;
  page.hidden = false;
}

function stepsFrom(row) {
  const shown = row ? [...table.tBodies[0].rows].filter((each) => each.dataset.chunk && (!each.hidden || each === row)) : [];
  const place = shown.indexOf(row);
  const links = [["a", { href: left.hash }, "All tests"]];
  for (const [at, said] of [[place - 1, "Previous"], [place + 1, "Next"]]) {
    const link = place >= 0 && shown[at]?.querySelector("th a");
    if (link) links.push(["a", { href: link.getAttribute("href") }, said]);
  }
  steps.replaceChildren(...links.map(build));
  steps.hidden = false;
}
