// The page: editor, sliders, report and questions around an engine in a worker.
const $ = (id) => document.getElementById(id);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const theme = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
dark.addEventListener("change", theme);
theme();

// ---- the engine

const engine = {
  module: null, worker: null, waiting: new Map(), next: 1,

  async start() {
    const text = $("engine").textContent.trim();
    $("engine").remove();
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    this.module = await WebAssembly.compile(await new Response(plain).arrayBuffer());
    await this.spawn();
  },

  spawn() {
    const url = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
    this.worker = new Worker(url);
    return new Promise((ready) => {
      this.worker.onmessage = ({ data }) => {
        if (data.ready) return ready();
        if (data.progress !== undefined) { $("progress").value = data.progress; return; }
        const done = this.waiting.get(data.id);
        this.waiting.delete(data.id);
        if (data.said.broken) this.restart();
        done(data.said, data.took);
      };
      this.worker.postMessage({ module: this.module });
    });
  },

  /// A new worker; whoever waits for the old one hears that it was stopped.
  restart() {
    this.worker.terminate();
    const left = [...this.waiting.values()];
    this.waiting.clear();
    this.ready = this.spawn();
    left.forEach((done) => done({ stopped: true }, 0));
  },

  async ask(question) {
    await this.ready;
    return new Promise((done) => {
      const id = this.next++;
      this.waiting.set(id, (said, took) => done({ ...said, took }));
      this.worker.postMessage({ id, question });
    });
  },
};

// ---- what the page holds

const model = { beside: null, set: {}, case: "" };
const editor = new Editor($("editor"), edited);
let checked = { parameters: [], names: [], cases: [], tasks: [] };
let kinds = [];
let turn = 0;

function typed() {
  const known = new Set(checked.parameters.map((p) => p.name));
  const set = Object.entries(model.set).filter(([name]) => known.has(name));
  return { text: editor.text, beside: model.beside, set, case: model.case || null };
}

function later(wait, work) {
  let timer = 0;
  return () => { clearTimeout(timer); timer = setTimeout(work, wait); };
}
const soon = later(300, () => check(false));
const again = later(120, () => run());

function edited() { remember(); soon(); }

// ---- messages

function element(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

function place(mark) {
  if (mark.from === undefined) return "";
  const before = editor.text.slice(0, mark.from).split("\n");
  return `${before.length}:${before[before.length - 1].length + 1}`;
}

/// Mistakes under the text; a click goes there.
function complain(said) {
  const marks = said.marks || [];
  editor.mark(marks);
  const lines = marks.map((m) => {
    const line = element("button", { className: m.error ? "wrong" : "odd" },
      element("code", { textContent: place(m) }), ` ${m.message}`, element("small", { textContent: m.help }));
    if (m.from !== undefined) line.onclick = () => editor.goto(m.from, m.to);
    return line;
  });
  if (said.error && !lines.length) lines.push(element("pre", { className: "wrong", textContent: said.error }));
  $("marks").replaceChildren(...lines);
}

function tell(text) { $("state").textContent = text; }

function busy(on) {
  for (const id of ["stop", "progress"]) $(id).hidden = !on;
  $("run").hidden = on;
  $("progress").value = 0;
}

// ---- check, run, ask

async function check(fresh) {
  const mine = ++turn;
  if (fresh) { model.set = {}; model.case = ""; }
  const said = await engine.ask({ ask: "check", ...typed(), ...(fresh ? { set: [] } : {}) });
  if (mine !== turn || said.stopped) return false;
  complain(said);
  if (said.error) return false;
  checked = said;
  document.title = `${said.name} – Specht`;
  editor.names = [...said.parameters, ...said.names.map((name) => ({ name, about: "" }))];
  sliders();
  questions();
  return true;
}

async function run() {
  const mine = ++turn;
  busy(true);
  const said = await engine.ask({ ask: "run", ...typed() });
  if (mine !== turn) return;
  busy(false);
  if (said.stopped) return tell("stopped");
  if (said.error) { complain(said); return tell("not run: see the messages under the text"); }
  tell(`${said.status} in ${said.took < 10 ? said.took.toFixed(1) : said.took.toFixed(0)} ms`);
  $("report").dataset.final = JSON.stringify(said.final);
  $("report").srcdoc = said.page;
}

async function ask() {
  const kind = $("kind").value, own = kind.startsWith("task ");
  const question = typed();
  let name = kind.slice(5);
  if (!own) {
    name = "asked_here";
    question.text += `\n\n[[task]]\nname = "${name}"\nanalyse = "${kind}"\n${$("keys").value.replace(/;\s*/g, "\n")}\n`;
  }
  const mine = ++turn;
  busy(true);
  const said = await engine.ask({ ask: "task", ...question, name });
  if (mine !== turn) return;
  busy(false);
  if (said.stopped) return tell("stopped");
  const answer = $("answer");
  answer.hidden = false;
  const parts = [element("button", { textContent: "×", className: "close", title: "close", onclick: () => { answer.hidden = true; } })];
  parts.push(element("pre", { textContent: said.error || said.words, className: said.error ? "wrong" : "" }));
  if (said.picture) {
    // a picture, never a page: no script in it can run
    const url = URL.createObjectURL(new Blob([said.picture], { type: "image/svg+xml" }));
    parts.push(element("img", { src: url, alt: "picture of the answer", onload: () => URL.revokeObjectURL(url) }));
  }
  answer.replaceChildren(...parts);
  answer.scrollIntoView({ block: "nearest" });
  tell(said.error ? "not answered" : `answered in ${said.took.toFixed(0)} ms`);
}

// ---- sliders, cases, questions

function digits(x) { return String(Number(x.toPrecision(4))); }

function sliders() {
  // what may be moved comes first
  const rows = [...checked.parameters].sort((a, b) => Boolean(b.range) - Boolean(a.range)).map((p) => {
    const value = model.set[p.name] ?? p.value;
    const [from, to] = p.range || [];
    const number = element("input", { type: "number", step: "any", value: digits(value), title: p.about });
    number.setAttribute("aria-label", p.name);
    const set = (x) => {
      if (!Number.isFinite(x)) return;
      if (x === p.value) delete model.set[p.name]; else model.set[p.name] = x;
      remember();
      again();
    };
    const row = [element("label", { title: p.about }, p.name, element("small", { textContent: p.unit ? ` ${p.unit}` : "" }))];
    if (p.range) {
      const slider = element("input", { type: "range", min: from, max: to, step: (to - from) / 500, value, title: p.about });
      slider.dataset.name = p.name;
      slider.setAttribute("aria-label", `${p.name}, slider`);
      slider.oninput = () => { number.value = digits(slider.valueAsNumber); set(slider.valueAsNumber); };
      number.onchange = () => { slider.value = number.value; set(number.valueAsNumber); };
      row.push(slider);
    } else {
      number.onchange = () => set(number.valueAsNumber);
      row.push(element("span"));
    }
    return element("div", { className: "slider" }, ...row, number);
  });
  $("sliders").hidden = !rows.length;
  $("sliders").lastElementChild.replaceChildren(...rows);
  $("case").hidden = !checked.cases.length;
  $("case").replaceChildren(...["", ...checked.cases].map((c) => element("option", { value: c, textContent: c || "as written" })));
  $("case").value = model.case;
}

function questions() {
  const kept = $("kind").value;
  const own = checked.tasks.map((t) => element("option", { value: `task ${t.name}`, textContent: `${t.name} (${t.kind})` }));
  const all = kinds.map((k) => element("option", { value: k.name, textContent: k.name, title: k.keys.join(", ") }));
  $("kind").replaceChildren(...own, ...all);
  if ([...$("kind").options].some((o) => o.value === kept)) $("kind").value = kept;
  asked();
}

function asked() {
  const kind = kinds.find((k) => k.name === $("kind").value);
  $("keys").hidden = !kind;
  $("keys").title = kind ? `keys: ${kind.keys.join(", ")}; several are separated by ;` : "";
}

// ---- links

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function packed(value) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(value)));
  let text = "";
  bytes.forEach((b) => { text += String.fromCharCode(b); });
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
}

/// The address of the page carries the model.
const remember = later(400, async () => {
  const { text, beside, set, case: chosen } = { ...typed(), set: model.set };
  history.replaceState(null, "", `#${await packed({ text, beside, set, case: chosen })}`);
});

async function share() {
  const { text, beside, case: chosen } = typed();
  const link = `${location.href.split("#")[0]}#${await packed({ text, beside, set: model.set, case: chosen })}`;
  history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(link);
    tell("the link is in the clipboard; it carries the whole model");
  } catch {
    tell("the address of this page carries the whole model now: copy it");
  }
}

// ---- opening

async function open(name) {
  const said = await engine.ask({ ask: "open", name });
  if (said.error) return tell(said.error);
  await begin({ text: said.text, beside: name, set: {}, case: "" });
  remember();
}

async function begin(kept) {
  model.beside = typeof kept.beside === "string" ? kept.beside : null;
  editor.text = String(kept.text);
  $("answer").hidden = true;
  if ([...$("gallery").options].some((o) => o.value === model.beside)) $("gallery").value = model.beside;
  checked = { parameters: [], names: [], cases: [], tasks: [] };
  if (!(await check(true))) return;
  if (kept.case) model.case = String(kept.case);
  for (const [name, value] of Object.entries(kept.set || {})) if (Number.isFinite(value)) model.set[name] = value;
  sliders();
  await run();
}

function save() {
  const url = URL.createObjectURL(new Blob([editor.text], { type: "text/plain" }));
  element("a", { href: url, download: "model.toml" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function main() {
  try {
    await engine.start();
  } catch (e) {
    return tell(`this browser cannot run the engine: ${e.message}`);
  }
  const hello = await engine.ask({ ask: "hello" });
  kinds = hello.kinds;
  editor.schema = hello.schema;
  $("gallery").replaceChildren(...hello.gallery.map((g) => element("option", { value: g.name, textContent: g.name, title: g.about })));
  $("gallery").onchange = () => open($("gallery").value);
  $("case").onchange = () => { model.case = $("case").value; remember(); again(); };
  $("kind").onchange = asked;
  $("run").onclick = async () => { if (await check(false)) run(); };
  $("stop").onclick = () => { turn++; busy(false); tell("stopped"); engine.restart(); };
  $("ask").onclick = ask;
  $("share").onclick = share;
  $("save").onclick = save;
  addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) $("run").click(); });
  addEventListener("hashchange", () => unpacked(location.hash.slice(1)).then(begin, () => {}));
  const kept = location.hash.length > 1 ? await unpacked(location.hash.slice(1)).catch(() => null) : null;
  if (kept && typeof kept.text === "string") await begin(kept);
  else await open("woodpecker");
  document.documentElement.dataset.ready = "yes";
  if (location.protocol === "https:" && "serviceWorker" in navigator) navigator.serviceWorker.register("offline.js").catch(() => {});
}
main();
