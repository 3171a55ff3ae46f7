// Light and dark, copying, keys; then the view that the address names.
const theme = document.getElementById("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
}

function nameTheme() {
  theme.textContent = isDark() ? "Light" : "Dark";
}

try {
  const kept = localStorage.getItem("promptfuzz-theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
} catch {
  // A page from the disk may not be allowed to keep anything.
}
theme.hidden = false;
theme.addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("promptfuzz-theme", next);
  } catch {
    // It holds until the page is left.
  }
  nameTheme();
});
dark.addEventListener("change", nameTheme);
nameTheme();

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.(".copy");
  if (!button) return;
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1500);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea")) return;
  if (event.key === "/" && fields.find && !overview.hidden) {
    event.preventDefault();
    fields.find.focus();
  } else if (event.key === "Escape" && !page.hidden) {
    location.hash = left.hash;
  }
});
window.addEventListener("hashchange", show);
await show();
document.documentElement.dataset.ready = "";
