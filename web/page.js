"use strict";
// The page: banner, stage and events, plots, ledger, findings, audit, parameters.

function pill(kind, text) { return el("span", { class: "pill " + kind }, text); }
function meta(label, value) { return el("span", { class: "meta" }, label + " ", el("b", {}, value)); }

function banner() {
  const good = run.status === "finished" || run.status === "stopped";
  const events = Object.entries(run.counts.events).filter(([, n]) => n > 0).map(([k, n]) => `${n} ${k}`).join(", ");
  return el("div", { class: "banner", id: "status" },
    pill(good ? "good" : run.status === "interrupted" ? "warn" : "bad", run.status),
    pill(run.audit.passed ? "good" : "bad", run.audit.passed ? "✓ audit passed" : "✗ audit failed"),
    meta("ended at", format(run.time, 6) + " s"),
    meta("scheme", run.settings.scheme),
    run.settings.scheme === "step" ? meta("step", format(run.settings.step) + " s") : meta("tolerance", format(run.settings.tolerance)),
    run.case ? meta("case", run.case) : null,
    (data.changed || []).length ? meta("set", data.changed.join(", ")) : null,
    meta("steps", String(run.counts.steps)),
    events ? meta("events", events) : null);
}

// ---- animation with its controls, and what the contacts do now
function player() {
  const made = data.space ? spaceStage() : stage();
  const play = { on: false, speed: 1, last: 0 };
  // one run takes about eight seconds of the viewer's time
  const natural = (span.to - span.from) / 8;
  const slider = el("input", { type: "range", min: 0, max: 10000, value: 0, "aria-label": "time", oninput: () => setTime(span.from + slider.value / 10000 * (span.to - span.from)) });
  const button = el("button", { class: "main", id: "play", onclick: () => toggle() }, "▶ Play");
  const rate = el("select", { "aria-label": "speed", onchange: () => { play.speed = Number(rate.value); } },
    [["slow ¼", 0.25], ["slow ½", 0.5], ["fit 8 s", 1], ["fast 2×", 2], ["fast 4×", 4], ["real time", 1 / natural]].map(([word, v]) =>
      el("option", v === 1 && word.startsWith("fit") ? { value: v, selected: "" } : { value: v }, word)));
  const time = el("span", { class: "clock" });
  function toggle() {
    play.on = !play.on;
    if (play.on && clock.t >= span.to) setTime(span.from);
    button.textContent = play.on ? "❚❚ Pause" : "▶ Play";
    play.last = performance.now();
    if (play.on) requestAnimationFrame(step);
  }
  function step(now) {
    if (!play.on) return;
    const t = clock.t + (now - play.last) / 1000 * natural * play.speed;
    play.last = now;
    setTime(t);
    if (t >= span.to) toggle(); else requestAnimationFrame(step);
  }
  listen(() => {
    slider.value = String(Math.round((clock.t - span.from) / (span.to - span.from) * 10000));
    time.textContent = "t = " + cursor().toFixed(Math.max(3, 2 - Math.floor(Math.log10(span.to - span.from)))) + " s";
  });
  document.addEventListener("keydown", (e) => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(e.target.tagName) && e.target.type !== "range") return;
    if (e.key === " " && e.target.tagName !== "BUTTON") { e.preventDefault(); toggle(); }
    if (e.key === "ArrowRight") setTime(clock.t + (span.to - span.from) / 200);
    if (e.key === "ArrowLeft") setTime(clock.t - (span.to - span.from) / 200);
  });
  const controls = el("div", { class: "play" }, button, slider, rate);
  if (!made) return el("section", { class: "card" }, el("div", { class: "head" }, el("h2", {}, "Time"), el("div", { class: "grow" }), time), controls);
  const option = (word, key) => {
    const b = el("button", { onclick: () => { made.view[key] = !made.view[key]; b.classList.toggle("on", made.view[key]); made.node.repaint(); } }, word);
    b.classList.toggle("on", !!made.view[key]);
    return b;
  };
  return el("section", { class: "card", id: "stage" },
    el("div", { class: "stage" }, made.node, time,
      el("div", { class: "buttons" },
        option("Follow", "follow"), (scene || data.space).contacts.length ? option("Forces", "forces") : null,
        data.space ? [data.space.contacts.length ? option("Cones", "cones") : null, option("Trails", "trails"), option("Above", "above")] : null, option("Names", "labels"))),
    controls);
}

function contactsNow() {
  const names = data.series.modes.map((b) => b.contact);
  if (!names.length) return null;
  const rows = names.slice(0, 200).map((name) => {
    const dot = el("i", {}), word = el("span", {}), size = { slip: "speed", tangential: "friction" }, cells = ["gap", "slip", "normal", "tangential"].map((k) => ({ c: column(`${name}.${k}`) || column(`${name}.${size[k]}`), td: el("td", { class: "n" }) }));
    return { name, dot, word, cells, tr: el("tr", {}, el("td", { class: "m" }, name), el("td", {}, el("span", { class: "mode" }, dot, word)), cells.map((c) => c.td)) };
  });
  listen(() => {
    if (!rows[0].tr.offsetParent) return; // folded
    for (const r of rows) {
      const code = modeAt(r.name, cursor());
      r.dot.style.background = modeStyle(code);
      r.word.textContent = MODES[code];
      for (const { c, td } of r.cells) td.textContent = c ? format(valueAt(c, cursor()), 4) : "–";
    }
  });
  const unit = (key) => { const c = column(`${names[0]}.${key}`); return c && c.unit ? ", " + c.unit : ""; };
  const head = [["contact", ""], ["mode", ""], ["gap" + unit("gap"), "n"], ["slip" + unit("slip"), "n"], ["λ normal" + unit("normal"), "n"], ["λ tang." + unit("tangential"), "n"]];
  const many = names.length > 12 ? { class: "card", id: "contacts" } : { class: "card", id: "contacts", open: "" };
  return el("details", many, el("summary", {}, el("h2", {}, "Contacts now"), names.length > 12 ? el("span", { class: "hint" }, `${names.length} contacts`) : null),
    el("div", { class: "pad scroll", style: "max-height:230px" }, el("table", {}, el("thead", {}, el("tr", {}, head.map(([t, c]) => el("th", { class: c }, t)))), el("tbody", {}, rows.map((r) => r.tr)))));
}

function eventTable() {
  const all = run.events.map((e, k) => ({ e, k }));
  const kinds = [...new Set(run.events.map((e) => e.kind))];
  const chosen = new Set(kinds.filter((k) => k !== "switch"));
  const search = el("input", { type: "search", placeholder: "contact or name", "aria-label": "filter events", style: "width:130px", oninput: () => fill() });
  const chips = kinds.map((kind) => {
    const b = el("button", { onclick: () => { if (chosen.has(kind)) chosen.delete(kind); else chosen.add(kind); b.classList.toggle("on", chosen.has(kind)); fill(); } }, kind);
    b.classList.toggle("on", chosen.has(kind));
    return b;
  });
  const body = el("tbody"), count = el("span", { class: "hint" });
  let shown = [];
  function fill() {
    const word = search.value.trim().toLowerCase();
    const fits = ({ e }) => chosen.has(e.kind) && (!word || (e.contacts || []).concat(e.name || []).some((n) => n.toLowerCase().includes(word)));
    shown = all.filter(fits);
    body.replaceChildren(...shown.slice(0, 1500).map(({ e }) => {
      const impulses = Object.values(e.impulse_n || {});
      const note = e.name ? e.name : impulses.length ? "Λ " + impulses.map((x) => format(x, 3)).join(", ") : e.kind === "finding" || e.note ? e.note || "" : Object.values(e.modes || {}).join(", ");
      return el("tr", { onclick: () => setTime(e.time), title: e.note || "" }, el("td", { class: "n" }, format(e.time, 7)), el("td", {}, el("span", { class: "kind " + e.kind }, e.kind.replace("_", " "))),
        el("td", { class: "m" }, (e.contacts || []).join(", ")), el("td", { class: "m soft" }, note));
    }));
    const total = Object.values(run.counts.events).reduce((a, b) => a + b, 0);
    const listed = all.length < total ? `the first ${all.length} of ${total}` : `${all.length}`;
    count.textContent = shown.length === all.length ? listed : `${shown.length} of ${listed}`;
    mark();
  }
  function mark() {
    const t = cursor();
    let lo = 0, hi = shown.length;
    while (lo < hi) { const mid = (lo + hi) >> 1; if (shown[mid].e.time <= t) lo = mid + 1; else hi = mid; }
    const old = body.querySelector(".now");
    const row = body.children[lo - 1];
    if (old === row) return;
    if (old) old.classList.remove("now");
    if (row) {
      row.classList.add("now");
      const box = row.closest(".scroll");
      if (box && clock.hover === null) box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 2);
    }
  }
  const section = el("section", { class: "card", id: "events" },
    el("div", { class: "head" }, el("h2", {}, "Events"), count, el("div", { class: "grow" }), all.length ? search : null),
    all.length ? el("div", { class: "pad", style: "display:flex;gap:5px;flex-wrap:wrap" }, chips) : null,
    all.length ? el("div", { class: "pad scroll events" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { class: "n" }, "time, s"), el("th", {}, "kind"), el("th", {}, "contacts"), el("th", {}, "what"))), body))
      : el("div", { class: "pad soft" }, run.settings.scheme === "step" && data.space ? "None. Single touches of bodies in a pile are not listed." : "Nothing happened: no impact, no change between stick and slip."));
  fill();
  listen(mark);
  return section;
}

// What the file asks for.
function ownPlots() {
  const out = [];
  for (const p of data.plots || []) {
    const t = f64(p.t), make = (c) => ({ name: c.name, unit: c.unit || "", t, y: f32(c.y) });
    out.push(p.x ? phasePlot(p.title, make(p.x), p.y.map(make), 260) : timePlot(p.title, p.y.map(make), 260));
  }
  return out;
}

// the unit stands in the title where all curves have it
function titled(title, list) {
  const unit = list[0].unit;
  return unit && list.every((c) => c.unit === unit) ? `${title}, ${unit}` : title;
}

function plots() {
  const out = [];
  const groups = [["coordinate", "Coordinates"], ["velocity", "Velocities"], ["output", "Outputs"], ["state", "States"], ["memory", "Memory"],
    ["normal", "Normal forces"], ["tangential", "Tangential forces"], ["gap", "Gaps"], ["slip", "Slip velocities"]];
  const nothing = [];
  for (const [group, title] of groups) {
    const list = inGroup(group);
    if (list.length && empty(list)) nothing.push(title.toLowerCase());
    else if (list.length) out.push(timePlot(titled(title, list), list, group === "memory" ? 130 : 190));
  }
  if (nothing.length) out.push(el("p", { class: "hint" }, `Zero all the time, so without a plot: ${nothing.join(", ")}.`));
  return out;
}

function phases() {
  const moving = (q) => column(q.name + "'");
  const shown = liveliestFirst(inGroup("coordinate").filter(moving)).slice(0, 6);
  // what moves by rounding only has no plane
  const pairs = shown.filter((q) => motion(q)[0] > least(q.unit)).map((q) => [q, moving(q)]);
  return pairs.map(([q, u]) => phasePlot(`Phase plane of ${q.name}`, q, [u]));
}

function energy() {
  const list = inGroup("energy");
  if (!list.length) return null;
  const rows = list.map((c) => el("tr", {}, el("td", {}, c.name), el("td", { class: "n" }, format(c.y[0])), el("td", { class: "n" }, format(c.y[c.y.length - 1]))));
  return el("div", { class: "grid2 wide" }, timePlot("Energy ledger, J", list, 230),
    el("section", { class: "card", id: "ledger" }, el("div", { class: "head" }, el("h2", {}, "Ledger, J")),
      el("div", { class: "pad" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, ""), el("th", { class: "n" }, "start"), el("th", { class: "n" }, "end"))), el("tbody", {}, rows)),
        el("p", { class: "hint" }, "Kinetic + potential now = at the start + external + drive work + friction and impact work (both ≤ 0). What is left over is the closing error below."))));
}

function audit() {
  const a = run.audit;
  const rows = (a.lines || []).map((l) => el("tr", {}, el("td", {}, el("span", { class: l.passed ? "tick" : "cross" }, l.passed ? "✓\u00a0" : "✗\u00a0"), l.name), el("td", { class: "n" }, format(l.value, 3)), el("td", { class: "n soft" }, "≤ " + format(l.limit, 2)), el("td", { class: "soft" }, l.about || "")));
  return el("section", { class: "card", id: "audit" }, el("div", { class: "head" }, el("h2", {}, "Audit"), pill(a.passed ? "good" : "bad", a.passed ? "passed" : "failed"), el("div", { class: "grow" }), el("span", { class: "hint" }, "specht explain audit")),
    el("div", { class: "pad" }, el("table", {}, el("tbody", {}, rows))));
}

function parameters() {
  const entries = Object.entries(run.parameters);
  if (!entries.length) return null;
  const about = data.about_parameters || {};
  return el("section", { class: "card", id: "parameters" }, el("div", { class: "head" }, el("h2", {}, "Parameters"), el("span", { class: "hint" }, "SI")),
    el("div", { class: "pad scroll", style: "max-height:420px" }, el("table", {}, el("tbody", {}, entries.map(([k, v]) => el("tr", {}, el("td", { class: "m" }, k), el("td", { class: "n" }, format(v, 7)), el("td", { class: "soft" }, (data.units || {})[k] || (data.units || {})[k.split("[")[0]] || ""), el("td", { class: "soft" }, about[k] || "")))))));
}

// A page of explanations, folded.
function page(topic) {
  const text = (data.pages || {})[topic];
  if (!text) return null;
  return el("details", { class: "page" }, el("summary", {}, "What does this mean? ", el("span", { class: "hint" }, "specht explain " + topic)), el("pre", {}, text));
}

// Warnings that differ in their numbers only are one.
function warnings() {
  const groups = new Map();
  for (const w of run.warnings || []) {
    const kind = w.replace(/[0-9][0-9.e+−-]*/g, "#");
    if (!groups.has(kind)) groups.set(kind, []);
    groups.get(kind).push(w);
  }
  return [...groups.values()].map((list) => (list.length === 1 ? el("div", { class: "note" }, list[0])
    : el("details", { class: "note" }, el("summary", {}, list[0], el("b", {}, ` (${list.length} times)`)), el("ul", {}, list.slice(0, 50).map((w) => el("li", {}, w))))));
}

// What a finding says in one line.
const VERDICTS = { unique: ["good", "one solution"], several: ["bad", "several solutions"], none: ["bad", "no solution"], family: ["bad", "a continuum of solutions"], open: ["good", "no frictional contact closed"],
  stays: ["good", "stays at rest"], moves: ["good", "starts to move"], both: ["bad", "rest and motion both possible"] };
function said(f) {
  const out = [];
  if (typeof f.error === "string") return [pill("bad", "not answered")];
  const known = VERDICTS[f.verdict];
  if (known) out.push(pill(...known));
  if (typeof f.outcome === "string") out.push(pill(f.outcome === "rigid" ? "good" : "bad", f.outcome.replace("_", " ")));
  if (typeof f.critical_mu === "number") out.push(meta("critical μ", format(f.critical_mu, 6)));
  if (typeof f.least_critical_mu === "number") out.push(meta("smallest critical μ", format(f.least_critical_mu, 6)));
  if (f.counts) out.push(meta("points", Object.entries(f.counts).filter(([, n]) => n > 0).map(([k, n]) => `${n} ${k}`).join(", ")));
  if (f.start_load) out.push(meta(`stays for ${f.start_load.parameter} from`, `${format(f.start_load.low, 6)} to ${format(f.start_load.high, 6)}`));
  if (f.efficiency) out.push(meta("efficiency", `${format(f.efficiency.forward, 5)} forward, ${format(f.efficiency.backward, 5)} backward`));
  return out;
}

function findings() {
  const out = [];
  const notes = run.events.filter((e) => ["finding", "seizure", "tangential_impact"].includes(e.kind)).slice(0, 50);
  if (notes.length) {
    const topics = [...new Set(notes.map((e) => (e.kind === "finding" ? "several-solutions" : "tangential-impact")))];
    out.push(el("section", { class: "card block", id: "findings" }, el("div", { class: "head" }, el("h2", {}, "Findings during the run")),
      el("div", { class: "pad" }, el("table", {}, el("tbody", {}, notes.map((e) => el("tr", { onclick: () => setTime(e.time), style: "cursor:pointer" }, el("td", { class: "n" }, format(e.time, 7) + " s"), el("td", { class: "m" }, (e.contacts || []).join(", ")), el("td", {}, e.note || e.kind))))),
        topics.map(page))));
  }
  const solutions = run.start.solutions || [];
  // time steps do not ask for the forces of an instant
  if (run.settings.scheme !== "step" && (solutions.length !== 1 || run.start.family)) {
    const text = run.start.family ? "a continuum of solutions" : solutions.length === 0 ? "no solution" : `${solutions.length} solutions`;
    out.push(el("section", { class: "card block" }, el("div", { class: "head" }, el("h2", {}, "The force problem at the start has " + text)), el("div", { class: "pad" }, page(solutions.length ? "several-solutions" : "tangential-impact")), el("pre", {}, JSON.stringify(run.start.family || solutions, null, 1))));
  }
  for (const [task, finding] of Object.entries(run.findings || {})) {
    const f = typeof finding === "object" && finding ? finding : { value: finding };
    const picture = (data.pictures || {})[task];
    const drawn = typeof picture === "string" && picture.startsWith("<svg")
      ? el("div", { class: "pad" }, el("img", { alt: "picture of " + task, class: "picture", src: "data:image/svg+xml;charset=utf-8," + encodeURIComponent(picture) })) : null;
    out.push(el("section", { class: "card block finding" }, el("div", { class: "head" }, el("h2", {}, "Finding: " + task), said(f)),
      f.error ? el("pre", {}, f.error) : null, drawn,
      el("div", { class: "pad" }, f.explain ? page(f.explain) : null,
        f.error ? null : el("details", {}, el("summary", {}, "All numbers"), el("pre", { style: "max-height:340px" }, JSON.stringify(f, null, 1).slice(0, 20000))))));
  }
  return out;
}

function build() {
  const stored = (() => { try { return localStorage.getItem("specht-theme"); } catch { return null; } })();
  const dark = stored ? stored === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  readColours();
  const theme = el("button", { title: "light or dark", onclick: () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("specht-theme", next); } catch { /* a page from a file may not keep anything */ }
    readColours();
    changed();
  } }, "◐");
  const reset = el("button", { title: "show the whole time", onclick: () => setView(span.from, span.to) }, "Whole time");
  const app = document.getElementById("app");
  const left = el("div", { class: "stack" }, player(), modeBands());
  const right = el("div", { class: "stack" }, eventTable(), contactsNow());
  app.replaceChildren(...[
    el("header", {}, el("div", { class: "words" }, el("h1", {}, data.title), el("p", {}, data.about || ""), data.source ? el("p", { class: "hint" }, data.source) : null), el("div", { class: "tools" }, reset, theme)),
    banner(),
    run.message ? el("div", { class: run.status === "finished" || run.status === "stopped" ? "note" : "note bad" }, run.message) : null,
    ...warnings(),
    data.series.thinned ? el("div", { class: "hint block" }, `${data.series.thinned} rows: curves show the least and largest values of short parts of the time. All rows are in trajectory.csv; --keep FROM..TO shows a part in full.`) : null,
    el("div", { class: "top" }, left, right),
    ...findings(),
    el("p", { class: "hint" }, "Plots: move to read, click to jump, drag to zoom (a box zooms both axes), Ctrl + wheel to zoom, double click for everything. Space plays, arrows step."),
    data.plots && data.plots.length ? el("div", { class: "grid2" }, ownPlots()) : null,
    el("div", { class: "grid2 broad" }, plots()),
    el("div", { class: "grid2" }, phases()),
    energy(),
    el("div", { class: "grid2" }, audit(), parameters()),
    el("footer", {}, `Made by specht ${run.version}. All numbers are SI. The same data in full precision: run.json, trajectory.csv.`),
  ].filter(Boolean));
  changed();
}
build();
document.documentElement.dataset.ready = "yes";
