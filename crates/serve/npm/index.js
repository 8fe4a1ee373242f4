// In a page: everything happens in a worker of its own, so that the page stays awake.
import { Locdiff, LocdiffError } from "./ask.js";

export { LocdiffError };

// Starts a worker; the model is loaded with it.
export function open() {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const waiting = new Map();
  let next = 0, broken = null;
  worker.onmessage = ({ data: { id, error, ...reply } }) => {
    const { done, failed } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) failed?.(new Error(error)); else done?.(reply);
  };
  worker.onerror = (event) => {
    broken = new Error(event.message || "the worker could not be started");
    for (const { failed } of waiting.values()) failed(broken);
    waiting.clear();
  };
  const send = (question, signal, moved = []) => new Promise((done, failed) => {
    if (broken) { failed(broken); return; }
    if (signal?.aborted) { failed(signal.reason); return; }
    const id = next++;
    waiting.set(id, { done, failed });
    signal?.addEventListener("abort", () => {
      if (!waiting.delete(id)) return;
      worker.postMessage({ id, stop: true });
      failed(signal.reason);
    }, { once: true });
    worker.postMessage({ id, ...question }, moved);
  });
  const ask = async (path, query, type, body, signal) => {
    const bytes = new Uint8Array(body).slice().buffer;
    return send({ path, query, type, body: bytes }, signal, [bytes]);
  };
  return new Locdiff(ask, () => send({ about: true }), () => worker.terminate());
}
