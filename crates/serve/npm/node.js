// In Node: on the thread that calls.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Locdiff, LocdiffError } from "./ask.js";
import { openCore } from "./files.js";

export { LocdiffError };

export function open() {
  const base = new URL("./", import.meta.url);
  const core = (async () => openCore(JSON.parse(await readFile(new URL("files.json", base), "utf8")), async ({ path, integrity }) => {
    const bytes = await readFile(new URL(path, base));
    if (`sha256-${createHash("sha256").update(bytes).digest("base64")}` !== integrity) throw new Error(`${path} is not the file that files.json names`);
    return new Response(bytes);
  }))();
  // Whoever asks hears of it.
  core.catch(() => {});
  let last = Promise.resolve();
  const ask = (path, query, type, body) => (last = last.catch(() => {}).then(async () => (await core).ask(path, query, type, new Uint8Array(body))));
  const about = async () => { const { bytes, isFused } = await core; return { bytes, isFused }; };
  return new Locdiff(ask, about, () => {});
}
