// The worker of a page: one question after another.
import { openCore } from "./files.js";

const base = new URL("./", import.meta.url);
async function open() {
  const response = await fetch(new URL("files.json", base));
  if (!response.ok) throw new Error(`files.json: ${response.status}`);
  return openCore(await response.json(), async ({ path, integrity }) => {
    const file = await fetch(new URL(path, base), { integrity });
    if (!file.ok) throw new Error(`${path}: ${file.status}`);
    return file;
  });
}

let core = open();
// Questions that are still wanted, in the order they came.
let last = Promise.resolve();
const unwanted = new Set();

async function answer({ id, path, query, type, body }) {
  if (unwanted.delete(id)) return;
  try {
    const reply = await (await core).ask(path, query, type, new Uint8Array(body));
    postMessage({ id, ...reply }, [reply.body.buffer]);
  } catch (error) {
    core = open();
    core.catch(() => {});
    postMessage({ id, error: error.message });
  }
}

onmessage = ({ data }) => {
  if (data.stop) unwanted.add(data.id);
  else if (data.about) core.then((one) => postMessage({ id: data.id, bytes: one.bytes, isFused: one.isFused }), (error) => postMessage({ id: data.id, error: error.message }));
  else last = last.then(() => answer(data));
};
