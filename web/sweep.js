"use strict";
// Many runs: any column over any other, coloured by a third; wheel and drag zoom and move, a click shows the run behind a point.

const data = JSON.parse(document.getElementById("data").textContent);
const app = document.getElementById("app");
const el = (tag, text, parent) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
};

const head = el("header", undefined, app);
const words = el("div", undefined, head);
words.className = "words";
el("h1", data.title, words);
const failed = data.failed ? `, ${data.failed} with something missing` : "";
el("p", `${data.done} of ${data.count} runs${failed}. ${data.said} Wheel: zoom. Drag: move. Double click: all. Click: the run behind a point.`, words);

const answered = el("div", undefined, app);
answered.className = "answers";
const choose = el("div", undefined, app);
choose.className = "choose";
const select = (label, chosen, none) => {
  const box = el("label", `${label} `, choose), list = el("select", undefined, box);
  if (none) { const o = el("option", "–", list); o.value = -1; }
  data.names.forEach((name, k) => { const o = el("option", name, list); o.value = k; });
  list.value = chosen === null || chosen === undefined ? -1 : chosen;
  list.addEventListener("change", () => { view = null; draw(); });
  return list;
};
const across = select("across", data.axes[0]), up = select("up", data.axes[1]), tint = select("colour", data.axes[2], true);
const canvas = el("canvas", undefined, app);
canvas.id = "plot";
const point = el("div", "", app);
point.id = "point";

// words count by their place in the alphabet
const wordsOf = data.names.map((_, k) => [...new Set(data.rows.map((r) => r[0][k]).filter((v) => typeof v === "string" || typeof v === "boolean").map(String))].sort());
const value = (row, k) => {
  const v = row[0][k];
  if (typeof v === "number") return v;
  if (v === null || v === "inf" || v === "-inf") return NaN;
  return wordsOf[k].indexOf(String(v));
};

const palette = ["#1f6feb", "#d1495b", "#2a9d6f", "#8d5bd1", "#d9822b", "#0c8599", "#b5487e", "#6c757d"];
const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function shade(part) {
  const p = 4 * Math.min(1, Math.max(0, part)), k = Math.min(3, Math.floor(p));
  return `rgb(${[0, 1, 2].map((c) => Math.round(stops[k][c] + (p - k) * (stops[k + 1][c] - stops[k][c]))).join(",")})`;
}

// what every address says as a whole: how many in a million, how it is spread, which parameters matter; a click shows it below
const inMillion = (p) => Math.round(1e6 * p).toLocaleString("en").replace(/,/g, "\u202f");
function answer(a) {
  const card = el("div", undefined, answered);
  card.className = "card";
  card.dataset.column = a.column;
  el("h2", a.of, card);
  if (a.share) {
    const s = a.share, none = s.holds === 0, all = s.value === 1, big = el("div", none ? `≤ ${inMillion(s.exact[1])}` : all ? `≥ ${inMillion(s.exact[0])}` : inMillion(s.value), card);
    big.className = "big";
    el("small", none || all ? " in a million (95 %)" : ` in a million, 95 %: ${inMillion(s.exact[0])} to ${inMillion(s.exact[1])}`, big);
  }
  if (a.numbers) histogram(a, card);
  for (const line of a.lines) if (!line.startsWith("matters most")) el("p", line, card);
  if (a.influence.length) bars(a.influence, card);
  card.addEventListener("click", () => {
    const most = a.influence.map((i) => data.names.indexOf(i.parameter));
    if (data.parameters.length && most.length) {
      const pair = a.share && most.length > 1;
      across.value = most[0]; up.value = pair ? most[1] : a.column; tint.value = pair ? a.column : -1;
    } else up.value = a.column;
    view = null; draw();
  });
}
function histogram(a, card) {
  const list = data.rows.map((r) => value(r, a.column)).filter(Number.isFinite);
  const lo = Math.min(a.numbers.min, ...list.slice(0, 1)), hi = Math.max(a.numbers.max, ...list.slice(0, 1));
  if (!(hi > lo) || list.length < 20) return;
  const n = Math.min(60, Math.max(8, Math.round(Math.sqrt(list.length)))), count = new Array(n).fill(0);
  for (const v of list) count[Math.min(n - 1, Math.max(0, Math.floor((v - lo) / (hi - lo) * n)))]++;
  const top = Math.max(...count), ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", `0 0 ${n} 100`); svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img"); svg.setAttribute("aria-label", `how ${a.of} is spread`);
  count.forEach((c, k) => {
    const bar = document.createElementNS(ns, "rect");
    for (const [key, v] of Object.entries({ x: k + 0.05, width: 0.9, y: 100 - 100 * c / top, height: 100 * c / top, fill: "var(--s0)" })) bar.setAttribute(key, v);
    const title = document.createElementNS(ns, "title");
    title.textContent = `${short(lo + k * (hi - lo) / n)} to ${short(lo + (k + 1) * (hi - lo) / n)}: ${c}`;
    bar.append(title); svg.append(bar);
  });
  card.append(svg);
  const ends = el("p", `${short(lo)} – ${short(hi)}`, card);
  ends.style.textAlign = "center"; ends.style.marginTop = "0";
}
function bars(list, card) {
  const box = el("div", undefined, card), total = list.some((i) => typeof i.total === "number");
  box.className = "bars";
  for (const i of list.slice(0, 8)) {
    el("span", i.parameter, box);
    const bar = el("i", undefined, box), part = (p, name) => { const b = el("b", undefined, bar); b.style.width = `${100 * Math.min(1, Math.max(0, p))}%`; if (name) b.className = name; };
    if (total) part(i.total, "total");
    part(i.first_order ?? 0);
    el("span", `${i.first_order === null ? "?" : (100 * i.first_order).toFixed(0)} %${total ? `, ${(100 * i.total).toFixed(0)} % with others` : ""}, rank ${i.rank_correlation.toFixed(2)}`, box);
  }
  el("p", `part of the variance that each parameter explains by itself${total ? "; light: together with others" : ""}`, card);
}

const LEFT = 92, TOP = 14, BOTTOM = 42;
let RIGHT = 16;
let view = null, places = [], chosen = -1;

function ends(k) {
  let lo = Infinity, hi = -Infinity;
  for (const row of data.rows) { const v = value(row, k); if (v < lo) lo = v; if (v > hi) hi = v; }
  if (!(hi >= lo)) return [0, 1];
  if (hi - lo <= 1e-9 * Math.max(Math.abs(lo), Math.abs(hi))) { lo -= 0.5; hi += 0.5; }
  const margin = 0.04 * (hi - lo);
  return [lo - margin, hi + margin];
}
function ticks(lo, hi, count) {
  const raw = (hi - lo) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= 0.999 * raw) || power, out = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi * (1 + 1e-12) + 1e-300 && out.length < 50; k++) out.push(k * step);
  return out;
}
const short = (x) => String(Number(x.toPrecision(6)));

// a colour tells a word, one of a few numbers (curves), or a place on a scale
const FEW = 12;
function colours(k) {
  if (k < 0) return null;
  const words = wordsOf[k];
  if (words.length) return { of: (c) => palette[c % 8], key: words.map((word, c) => [palette[c % 8], word]), few: false };
  const found = [...new Set(data.rows.map((r) => value(r, k)).filter(Number.isFinite))].sort((a, b) => a - b);
  const z = [found[0], found[found.length - 1]], few = found.length <= FEW;
  const of = (v) => (few && found.length <= palette.length ? palette[found.indexOf(v)] : shade(z[1] > z[0] ? (v - z[0]) / (z[1] - z[0]) : 0.5));
  return { of, few, key: few ? found.map((v) => [of(v), `${data.names[k]} = ${short(v)}`, short(v)]) : null, ends: z, name: data.names[k] };
}
// the interval of every value of a grid: half-way to its neighbours, and as far beyond the ends
function intervals(k) {
  const found = [...new Set(data.rows.map((r) => value(r, k)).filter(Number.isFinite))].sort((a, b) => a - b), n = found.length;
  const middle = (i) => (i < 1 ? found[0] - half(0) : i >= n ? found[n - 1] + half(n - 2) : (found[i - 1] + found[i]) / 2);
  const half = (i) => (n > 1 ? (found[i + 1] - found[i]) / 2 : 0.5);
  return new Map(found.map((v, i) => [v, [middle(i), middle(i + 1)]]));
}
function legend(g, colour, w) {
  g.textAlign = "left"; g.fillStyle = ink();
  if (colour.key) {
    colour.key.slice(0, FEW).forEach(([shade, text, brief], i) => {
      const y = TOP + 6 + 18 * i;
      g.fillStyle = shade; g.fillRect(w - RIGHT + 12, y, 12, 12);
      g.fillStyle = ink(); g.fillText(RIGHT < 140 && brief ? brief : text, w - RIGHT + 30, y + 10, RIGHT - 34);
    });
    return;
  }
  g.fillText(colour.name, w - RIGHT + 12, TOP + 12, RIGHT - 16);
  for (let i = 0; i < 100; i++) { g.fillStyle = shade(1 - i / 99); g.fillRect(w - RIGHT + 12, TOP + 22 + 1.6 * i, 14, 2); }
  g.fillStyle = ink();
  [[1, 0], [0.5, 80], [0, 160]].forEach(([part, y]) => g.fillText(short(colour.ends[0] + part * (colour.ends[1] - colour.ends[0])), w - RIGHT + 32, TOP + 27 + y));
}
const ink = () => getComputedStyle(document.documentElement).getPropertyValue("--ink");

function draw() {
  for (const card of answered.children) card.classList.toggle("on", [up.value, tint.value].includes(card.dataset.column));
  const k = [Number(across.value), Number(up.value), Number(tint.value)];
  if (!view) view = [...ends(k[0]), ...ends(k[1])];
  const colour = colours(k[2]);
  RIGHT = colour ? Math.min(170, 0.3 * canvas.clientWidth) : 16;
  const scale = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = w * scale; canvas.height = h * scale;
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  const grid = getComputedStyle(document.documentElement).getPropertyValue("--grid");
  const px = (x) => LEFT + (x - view[0]) / (view[1] - view[0]) * (w - LEFT - RIGHT);
  const py = (y) => h - BOTTOM - (y - view[2]) / (view[3] - view[2]) * (h - TOP - BOTTOM);
  g.font = "12px sans-serif"; g.fillStyle = ink(); g.strokeStyle = grid;
  g.textAlign = "center";
  for (const x of ticks(view[0], view[1], 8)) { g.beginPath(); g.moveTo(px(x), TOP); g.lineTo(px(x), h - BOTTOM); g.stroke(); g.fillText(short(x), px(x), h - BOTTOM + 16); }
  g.fillText(data.names[k[0]], (LEFT + w - RIGHT) / 2, h - 8);
  g.save(); g.translate(14, (TOP + h - BOTTOM) / 2); g.rotate(-Math.PI / 2); g.fillText(data.names[k[1]], 0, 0, h - TOP - BOTTOM); g.restore();
  if (colour) legend(g, colour, w);
  g.textAlign = "right";
  for (const y of ticks(view[2], view[3], 8)) { g.beginPath(); g.moveTo(LEFT, py(y)); g.lineTo(w - RIGHT, py(y)); g.stroke(); g.fillText(short(y), LEFT - 6, py(y) + 4); }
  g.save();
  g.beginPath(); g.rect(LEFT, TOP, w - LEFT - RIGHT, h - TOP - BOTTOM); g.clip();
  // both axes parameters: cells; a value over a parameter: curves, one for each colour where these are few
  const cells = colour && !data.dots && k[0] < data.parameters.length && k[1] < data.parameters.length;
  const curves = !cells && !data.dots && (!colour || colour.few);
  const size = data.dots && !colour ? 1.6 : 4, [wide, high] = cells ? [intervals(k[0]), intervals(k[1])] : [];
  places = data.rows.map((row) => [px(value(row, k[0])), py(value(row, k[1]))]);
  if (curves) {
    const last = new Map();
    data.rows.forEach((row, i) => {
      const [x, y] = places[i], down = data.chain && row[2];
      const group = `${colour ? value(row, k[2]) : ""} ${down}`, before = last.get(group);
      const good = Number.isFinite(x) && Number.isFinite(y);
      last.set(group, good ? [x, y] : null);
      if (!good || !before || (down ? x > before[0] : x < before[0])) return;
      g.strokeStyle = colour ? colour.of(value(row, k[2])) : palette[Number(down)];
      g.beginPath(); g.moveTo(...before); g.lineTo(x, y); g.stroke();
    });
  }
  data.rows.forEach((row, i) => {
    const [x, y] = places[i];
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const c = colour ? value(row, k[2]) : 0;
    if (!Number.isFinite(c)) return;
    g.fillStyle = colour ? colour.of(c) : palette[Number(row[2])];
    if (!cells) { g.fillRect(x - size / 2, y - size / 2, size, size); return; }
    const [[left, right], [low, top]] = [wide.get(value(row, k[0])), high.get(value(row, k[1]))];
    // a little over, so that neighbours leave no seam
    g.fillRect(px(left), py(top), px(right) - px(left) + 0.5, py(low) - py(top) + 0.5);
  });
  if (k[0] === data.axes[0] && k[1] === data.axes[1]) {
    g.strokeStyle = ink(); g.lineWidth = 1.6;
    for (const line of data.borders) { g.beginPath(); line.forEach((p, i) => (i ? g.lineTo(px(p[0]), py(p[1])) : g.moveTo(px(p[0]), py(p[1])))); g.stroke(); }
    if (data.nominal) { const [x, y] = [px(data.nominal[0]), py(data.nominal[1])]; g.beginPath(); g.moveTo(x - 6, y); g.lineTo(x + 6, y); g.moveTo(x, y - 6); g.lineTo(x, y + 6); g.stroke(); }
  }
  if (chosen >= 0) { g.strokeStyle = ink(); g.lineWidth = 2; g.beginPath(); g.arc(...places[chosen], 7, 0, 7); g.stroke(); }
  g.restore();
}

function show(i) {
  chosen = i;
  const [cells, error] = data.rows[i];
  const lines = data.names.map((name, k) => `${name} = ${cells[k] === null ? "–" : cells[k]}`);
  if (error) lines.push(`missing: ${error}`);
  const set = data.parameters.map((name, k) => ` --set "${name}=${cells[k]}"`).join("");
  point.textContent = `${lines.join("\n")}\n\n${data.command}${set}`;
  draw();
}

const inside = (e) => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
const part = (x, y) => [(x - LEFT) / (canvas.clientWidth - LEFT - RIGHT), 1 - (y - TOP) / (canvas.clientHeight - TOP - BOTTOM)];
canvas.addEventListener("wheel", (e) => {
  e.preventDefault();
  const [a, b] = part(...inside(e)), f = Math.exp(e.deltaY * 0.0015);
  const x = view[0] + a * (view[1] - view[0]), y = view[2] + b * (view[3] - view[2]);
  view = [x - (x - view[0]) * f, x + (view[1] - x) * f, y - (y - view[2]) * f, y + (view[3] - y) * f];
  draw();
}, { passive: false });
let from = null, moved = false;
canvas.addEventListener("pointerdown", (e) => { from = inside(e); moved = false; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointermove", (e) => {
  if (!from) return;
  const to = inside(e), dx = to[0] - from[0], dy = to[1] - from[1];
  if (!moved && Math.hypot(dx, dy) < 4) return;
  moved = true;
  const sx = dx / (canvas.clientWidth - LEFT - RIGHT) * (view[1] - view[0]), sy = dy / (canvas.clientHeight - TOP - BOTTOM) * (view[3] - view[2]);
  view = [view[0] - sx, view[1] - sx, view[2] + sy, view[3] + sy];
  from = to;
  draw();
});
canvas.addEventListener("pointerup", (e) => {
  from = null;
  if (moved) return;
  const [x, y] = inside(e);
  let best = -1, least = 400;
  places.forEach((p, i) => { const d = (p[0] - x) ** 2 + (p[1] - y) ** 2; if (d < least) { least = d; best = i; } });
  if (best >= 0) show(best);
});
canvas.addEventListener("dblclick", () => { view = null; draw(); });
window.addEventListener("resize", draw);
if (!data.borders.length) (data.answers || []).forEach(answer);
draw();
