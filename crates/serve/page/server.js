// What the page asks: photos go one by one, so that any number can be sent, stopped and answered as they come.
import { send } from "./backend.js";

let key = "";
export const setKey = (given) => { key = given; };

const nameOf = (file, k) => file.name || `pasted ${k + 1}`;

// Posts to a route; a refusal is an error with the server's words, `wait` where it is busy, `needsKey` where it wants one.
async function post(route, query, body, headers, signal) {
  if (key) headers["x-api-key"] = key;
  const response = await send(`v1/${route}?${query}`, { method: "POST", headers, body, signal });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({ detail: `the server said ${response.status}` }));
  const wait = response.status === 429 && Number(response.headers.get("retry-after"));
  throw Object.assign(new Error(problem.detail), { wait, needsKey: response.status === 401 });
}

// What is known of a photo, and which of its text is not used.
function known({ within, clues = [], takenAt, ignored, isUnread }, query) {
  if (within) query.append("within", within);
  for (const clue of clues) query.append("clue", clue);
  if (takenAt && clues.length) query.set("time", takenAt);
  if (isUnread) query.set("text", "false");
  else for (const line of ignored ?? []) query.append("ignore_text", line);
}

// A photo, or several files of one place.
export function ask(photo, route, parameters, signal) {
  const query = new URLSearchParams(parameters), headers = {};
  let body = photo.file;
  if (photo.files) {
    body = new FormData();
    for (const [k, file] of photo.files.entries()) body.append("photo", file, nameOf(file, k));
    if (route === "locate") query.set("together", "true");
  } else {
    query.set("name", photo.name);
    headers["content-type"] = body.type.startsWith("image/") ? body.type : "application/octet-stream";
  }
  if (route === "locate") known(photo, query);
  return post(route, query, body, headers, signal);
}

// Asks until the server has time; `told` hears how long that is.
export async function patiently(question, told, signal) {
  for (;;) {
    try {
      return await question();
    } catch (error) {
      if (!error.wait || signal?.aborted) throw error;
      told(error.wait);
      await new Promise((done, stopped) => {
        const timer = setTimeout(done, 1000 * error.wait);
        signal?.addEventListener("abort", () => { clearTimeout(timer); stopped(new DOMException("stopped", "AbortError")); }, { once: true });
      });
    }
  }
}

// What an album needs of a photo: its embedding as base64, what it says of time, place and camera, and the text in it.
export async function embed(photo, signal) {
  const { embedding, time, offset, camera, gps, text: read } = await (await ask(photo, "embed", {}, signal)).json();
  const bytes = new Uint8Array(Float32Array.from(embedding).buffer);
  let text = "";
  for (let k = 0; k < bytes.length; k += 4096) text += String.fromCharCode(...bytes.subarray(k, k + 4096));
  return { name: photo.name, embedding: btoa(text), time, offset, camera, gps, text: read };
}

export async function album(rows, signal) {
  return (await post("album/embeddings", "", JSON.stringify({ photos: rows }), { "content-type": "application/json" }, signal)).json();
}

// A copy with its place; an error says why there is none.
export async function tag(photo, said, signal) {
  const body = new FormData(), { best, radius_90_km, can_tell, place, outlier, hint } = said;
  body.append("answer", JSON.stringify({ best, radius_90_km, can_tell, place, outlier, hint }));
  body.append("photo", photo.file, photo.name);
  return new Uint8Array(await (await post("tag", "", body, {}, signal)).arrayBuffer());
}

// What gives a file away, the smallest radius first.
export async function expose(photo, signal) {
  return (await (await patiently(() => ask(photo, "expose", {}, signal), () => {}, signal)).json()).findings;
}

// A copy without location tags; an error says why there is none.
export async function clean(photo, signal) {
  return (await patiently(() => ask(photo, "clean", {}, signal), () => {}, signal)).blob();
}

// The version and the model; null where that is not told.
export async function info() {
  const response = await send("v1/info", key ? { headers: { "x-api-key": key } } : {});
  return response.ok ? response.json() : null;
}

// A JPEG that every browser can show.
export async function preview(photo) {
  return URL.createObjectURL(await (await patiently(() => ask(photo, "preview", {}), () => {})).blob());
}
