// Short forms of elements, by name: what the elements would repeat is added here.
const SHORT = { "=table": wholeTable, "=harmless": harmless };
const LISTED = 16; // trials of a section; more are folded once more

function wholeTable([, caption, classes, headings, rows]) {
  const head = ["thead", ["tr", ...headings.map((name) => ["th", { scope: "col" }, name])]];
  const body = rows.map(([first, ...rest]) => ["tr", ["th", { scope: "row" }, first], ...rest.map((cell) => ["td", cell])]);
  const table = [`table.${classes}`, ["caption.sr", caption], head, ["tbody", ...body]];
  return ["div.scrolled", { role: "region", "aria-label": caption, tabindex: "0" }, table];
}

// The trials of a test that broke nothing; texts and reasons that several of them have stand beside them once.
function harmless([, head, texts, said, trials]) {
  const made = trials.map((each) => harmlessTrial(texts, said, each));
  const rest = made.splice(LISTED);
  if (rest.length) made.push(["details.lazy", ["summary", `${rest.length.toLocaleString("en")} more`], ...rest]);
  return ["section", head, ...made];
}

function harmlessTrial(texts, said, [id, operators, about, similarity, prompt, diff, sides, why, figures, command]) {
  const sign = ["span.sign", { "aria-hidden": "true" }, "✓"];
  const summary = ["summary", ["span.badge is-equivalent", sign, ["span.word", "equivalent"]], ["strong", operators], ["span.dim", about]];
  if (similarity !== null) summary.push(["span.figure", `similarity ${similarity}`]);
  const body = [["h3", "Prompt"], ["pre.text", { dir: "auto" }, ...marked(texts[prompt], diff)]];
  if (sides !== null) body.push(["h3", "Answers"], typeof sides === "number" ? same(texts[sides]) : sides);
  body.push(...said[why], ["p.dim", `trial ${id} · ${figures}`]);
  const told = texts[command].split("{id}").join(id);
  if (told) body.push(["p.command", ["code", { dir: "ltr" }, told], ["button.copy", { type: "button" }, "Copy"]]);
  return ["details.trial lazy is-equivalent", { "data-trial": id }, summary, ...body];
}

// A prompt with what changed in it: so many characters that stay, so many (below zero) that went, a text that came.
function marked(prompt, diff) {
  const characters = [...prompt];
  let at = 0;
  return diff.map((piece) => {
    if (typeof piece === "string") return ["ins", piece];
    const text = characters.slice(at, (at += Math.abs(piece))).join("");
    return piece < 0 ? ["del", text] : text;
  });
}

function same(answer) {
  const one = ["div.side", ["p.label", "baseline"], ["pre.text", { dir: "auto" }, answer]];
  return ["div.sides", one, ["div.side", ["p.label", "response"], ["p.same", "the same, word for word"]]];
}
