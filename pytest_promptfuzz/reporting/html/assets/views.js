// Which view is shown: "#/" with its state, or "#/test/NAME" with a trial of it.
const overview = document.getElementById("overview");
const page = document.getElementById("test");
const steps = document.getElementById("steps");
const contents = document.getElementById("contents");
const views = new Map(); // a test's address, decoded, and its row
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
  await loaded;
  if (turn !== current) return;
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
  contents.hidden = false;
  overview.hidden = false;
  document.title = title;
  applyState(state);
  if (back) {
    window.scrollTo(0, left.top);
    if (left.row) linkOf(left.row)?.focus({ preventScroll: true });
    fillNear();
  }
  left.row = null;
}

async function showTest(row, trial, turn) {
  let nodes;
  try {
    nodes = (await unpack(row.page))[row.page];
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
  contents.hidden = true;
  page.hidden = false;
}

function stepsFrom(row) {
  const place = chosen.indexOf(row);
  const links = [["a", { href: left.hash }, "All tests"]];
  for (const [at, said] of [[place - 1, "Previous"], [place + 1, "Next"]]) {
    if (place >= 0 && chosen[at]) links.push(["a", { href: chosen[at].href }, said]);
  }
  steps.replaceChildren(...links.map(build));
  steps.hidden = false;
}

async function begin() {
  try {
    await load();
  } catch (error) {
    rows.length = 0;
    document.getElementById("count").textContent = `The browser cannot read this report's data: ${error.message}`;
  }
  for (const row of rows) views.set(plain(row.href), row);
  chosen = rows;
  ready();
}
const loaded = begin();
