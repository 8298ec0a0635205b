"use strict";
// Several runs over each other: one panel per column, one curve per run.

function theme() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  readColours();
}

function build() {
  theme();
  const app = document.getElementById("app");
  const swap = el("button", { title: "light or dark", onclick: () => {
    document.documentElement.dataset.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    readColours();
    changed();
  } }, "◐");
  const panels = data.groups.map(([name, unit]) => timePlot(unit ? `${name}, ${unit}` : name, columns.filter((c) => c.group === name).map((c) => Object.defineProperties({ name: c.name, unit: "" }, { t: { get: () => c.t }, y: { get: () => c.y } })), 220));
  app.replaceChildren(
    el("header", {}, el("div", { class: "words" }, el("h1", {}, data.title), el("p", {}, "Compared over the same time. Move to read, drag to zoom, double click for everything.")), el("div", { class: "tools" }, el("button", { onclick: () => setView(span.from, span.to) }, "Whole time"), swap)),
    el("div", { class: "grid2", id: "compared" }, panels));
  changed();
}
build();
document.documentElement.dataset.ready = "yes";
