// The engine in a worker: takes a compiled module, then questions; answers each with its number.
let engine = null;

function answer(question) {
  const text = new TextEncoder().encode(question);
  const at = engine.room(text.length);
  new Uint8Array(engine.memory.buffer, at, text.length).set(text);
  let length;
  try {
    length = engine.ask();
  } catch (e) {
    // a panic left its words there
    const said = read(engine.length());
    return { error: said.startsWith("sorry") ? said : String(e), broken: true };
  }
  return JSON.parse(read(length));
}

function read(length) {
  return new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.place(), length));
}

onmessage = async ({ data }) => {
  if (data.module) {
    let told = 0;
    const progress = (part) => {
      const now = performance.now();
      if (now - told > 100) { told = now; postMessage({ progress: part }); }
    };
    engine = (await WebAssembly.instantiate(data.module, { page: { progress } })).exports;
    postMessage({ ready: true });
    return;
  }
  const from = performance.now();
  const said = answer(JSON.stringify(data.question));
  postMessage({ id: data.id, said, took: performance.now() - from });
};
