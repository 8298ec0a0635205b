// A text field for model files: colours, marks under mistakes, completion from the schema.

/// Pieces of a line with their kinds; enough of TOML for colours.
const PIECES = /(#.*$)|("(?:[^"\\]|\\.)*"?|'[^']*'?)|(^\s*\[\[?[^\]\n]*\]?\]?)|(\b(?:true|false)\b|[-+]?\b\d[\w.+-]*)|([A-Za-z_][\w.-]*)(?=\s*=)/g;
const KINDS = [null, "comment", "text", "section", "number", "key"];

function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}

function coloured(line) {
  let out = "", last = 0;
  for (const m of line.matchAll(PIECES)) {
    const kind = KINDS[m.findIndex((x, k) => k > 0 && x !== undefined)];
    out += escaped(line.slice(last, m.index)) + `<i class="${kind}">${escaped(m[0])}</i>`;
    last = m.index + m[0].length;
  }
  return out + escaped(line.slice(last));
}

class Editor {
  constructor(host, changed) {
    host.innerHTML = `<pre class="under" aria-hidden="true"></pre><textarea spellcheck="false" autocapitalize="off" autocomplete="off"
      aria-label="model file" wrap="off"></textarea><ul class="offers" role="listbox" hidden></ul>`;
    [this.under, this.field, this.list] = host.children;
    this.marks = [];
    this.schema = null;
    this.names = [];
    this.offers = [];
    this.field.addEventListener("input", () => { this.draw(); this.offer(false); changed(); });
    this.field.addEventListener("scroll", () => this.follow());
    this.field.addEventListener("keydown", (e) => this.key(e));
    this.field.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.list.addEventListener("mousedown", (e) => {
      e.preventDefault();
      const item = e.target.closest("li");
      if (item) this.take(Number(item.dataset.k));
    });
  }

  get text() { return this.field.value; }
  set text(text) { this.field.value = text; this.marks = []; this.field.scrollTop = 0; this.draw(); this.close(); }

  /// Marks: [{from, to, error}] in letters of the text.
  mark(marks) { this.marks = marks.filter((m) => m.from !== undefined); this.draw(); }

  goto(from, to) { this.field.focus(); this.field.setSelectionRange(from, to); this.see(from); }

  see(at) {
    const line = this.text.slice(0, at).split("\n").length;
    const height = parseFloat(getComputedStyle(this.field).lineHeight);
    this.field.scrollTop = Math.max(0, (line - 4) * height);
  }

  draw() {
    const lines = this.text.split("\n");
    let at = 0;
    this.under.innerHTML = lines.map((line) => {
      const hit = this.marks.find((m) => m.from < at + line.length + 1 && Math.max(m.to, m.from + 1) > at);
      at += line.length + 1;
      return hit ? `<b class="${hit.error ? "wrong" : "odd"}">${coloured(line) || " "}</b>` : coloured(line);
    }).join("\n") + "\n";
    this.follow();
  }

  follow() {
    this.under.style.transform = `translate(${-this.field.scrollLeft}px, ${-this.field.scrollTop}px)`;
  }

  /// What may stand where the cursor is: [{word, about, insert}], and how many letters are there already.
  known() {
    const before = this.text.slice(0, this.field.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const above = [...before.matchAll(/^\s*\[\[?\s*([\w.-]+)\s*\]\]?/gm)].pop();
    const section = above && !/^\s*\[/.test(line) ? above[1].split(".")[0] : "";
    const top = this.schema ? this.schema.properties : {};
    const heading = line.match(/^\s*\[\[?\s*(\w*)$/);
    if (heading) {
      const inside = Object.entries(top).filter(([, v]) => v.type === "array" ? keysOf(v.items || {}) : v.type === "object");
      return { typed: heading[1], list: inside.map(([word, v]) => ({ word, about: v.description, insert: word })) };
    }
    const keys = section ? keysOf(top[section] || {}) || {} : top;
    const start = line.match(/^\s*(\w*)$/);
    if (start) {
      return { typed: start[1], list: Object.entries(keys).map(([word, v]) => ({ word, about: v.description, insert: `${word} = ` })) };
    }
    const value = line.match(/^\s*(\w+)\s*=\s*"(\w*)$/);
    const words = value && keys[value[1]] && wordsOf(keys[value[1]]);
    if (words && words.length) return { typed: value[2], list: words.map((word) => ({ word, about: "", insert: word })) };
    const name = line.match(/"[^"]*?([A-Za-z_][\w.]*)$/);
    const quotes = (line.match(/"/g) || []).length;
    if (name && quotes % 2) return { typed: name[1], list: this.names.map((n) => ({ word: n.name, about: n.about, insert: n.name })) };
    return { typed: "", list: [] };
  }

  offer(asked) {
    const { typed, list } = this.known();
    const fits = list.filter((o) => o.word.startsWith(typed) && o.word !== typed);
    if (!fits.length || (!typed && !asked)) return this.close();
    this.typed = typed;
    this.offers = fits.slice(0, 40);
    this.chosen = 0;
    this.show();
  }

  show() {
    this.list.innerHTML = this.offers.map((o, k) =>
      `<li data-k="${k}" role="option" aria-selected="${k === this.chosen}"><b>${escaped(o.word)}</b> ${escaped(o.about || "")}</li>`).join("");
    const before = this.text.slice(0, this.field.selectionStart);
    const row = before.split("\n").length, style = getComputedStyle(this.field);
    this.list.hidden = false;
    const top = row * parseFloat(style.lineHeight) + parseFloat(style.paddingTop) - this.field.scrollTop;
    this.list.style.top = `${Math.min(top, this.field.clientHeight - 40)}px`;
    this.list.children[this.chosen].scrollIntoView({ block: "nearest" });
  }

  close() { this.list.hidden = true; this.offers = []; }

  take(k) {
    const at = this.field.selectionStart - this.typed.length;
    this.field.focus();
    this.field.setSelectionRange(at, this.field.selectionStart);
    // keeps the history of the field
    if (!document.execCommand("insertText", false, this.offers[k].insert)) {
      this.field.setRangeText(this.offers[k].insert, at, this.field.selectionEnd, "end");
      this.field.dispatchEvent(new Event("input"));
    }
    this.close();
  }

  key(e) {
    if (e.key === " " && e.ctrlKey) { e.preventDefault(); return this.offer(true); }
    if (this.list.hidden) return;
    const n = this.offers.length;
    if (e.key === "ArrowDown") this.chosen = (this.chosen + 1) % n;
    else if (e.key === "ArrowUp") this.chosen = (this.chosen + n - 1) % n;
    else if (e.key === "Enter" || e.key === "Tab") { e.preventDefault(); return this.take(this.chosen); }
    else { if (e.key === "Escape" || e.key.startsWith("Arrow")) this.close(); return; }
    e.preventDefault();
    this.show();
  }
}

/// The keys that a piece of the schema has, wherever they stand in it.
function keysOf(schema) {
  if (schema.properties) return schema.properties;
  for (const part of [schema.items, ...(schema.anyOf || []), ...(schema.allOf || [])]) {
    const found = part && keysOf(part);
    if (found) return found;
  }
  return null;
}

/// The words that may stand at a key.
function wordsOf(schema) {
  const parts = [schema.items, ...(schema.anyOf || []), ...(schema.allOf || [])].filter(Boolean);
  return [...(schema.enum || []), ...parts.flatMap(wordsOf)].filter((w) => typeof w === "string");
}
