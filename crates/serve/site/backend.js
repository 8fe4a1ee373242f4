// The page's backend where there is no server: a worker of its own, offline after the first visit.
import { open } from "../locdiff/index.js";

export const whereabouts = "Photos stay in this tab: nothing is sent anywhere. The first visit loads about 20 MB, later ones nothing.", hasServer = false;

// What the worker fetches is kept for visits without a network; so the keeper comes first, where the browser has one.
async function kept() {
  const keeper = navigator.serviceWorker;
  if (!keeper) return;
  await keeper.register(new URL("../keeper.js", import.meta.url));
  if (keeper.controller) return;
  const controlled = new Promise((done) => keeper.addEventListener("controllerchange", done, { once: true }));
  await Promise.race([controlled, new Promise((done) => setTimeout(done, 5000))]);
}
const locdiff = kept().catch(() => {}).then(open);
locdiff.then((one) => { globalThis.locdiff = one; });

// What is the same for everyone is a file.
const FILES = { "page/labels.json": "labels.json", "v1/regions": "regions.json" };

// A photo that the module cannot read, as one that it can: by the browser's own decoder, without loss.
async function redrawn(photo) {
  const bitmap = await createImageBitmap(photo);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.convertToBlob({ type: "image/png" });
}

// As `fetch`: the worker's reply to a path.
export async function send(path, { body, headers, signal } = {}) {
  if (FILES[path]) return fetch(new URL(FILES[path], import.meta.url), { signal });
  const [route, query = ""] = path.split("?");
  const asked = async (body, type) => {
    const whole = new Response(body), bytes = await whole.arrayBuffer();
    const reply = await (await locdiff).ask(`/${route}`, query, type ?? whole.headers.get("content-type") ?? "", bytes, signal);
    return new Response(reply.body, { status: reply.status, headers: { "content-type": reply.type } });
  };
  const response = await asked(body, headers?.["content-type"]);
  if (response.status !== 415 || !(body instanceof Blob)) return response;
  const png = await redrawn(body).catch(() => null);
  if (!png) return response;
  const drawn = await asked(png, "image/png");
  if (!drawn.ok || !/^v1\/(locate|embed)$/.test(route)) return drawn;
  // What the file says of itself is lost on the way through a canvas.
  const facts = JSON.parse(new TextDecoder().decode((await (await locdiff).ask("/page/facts.json", "", "", await body.arrayBuffer(), signal)).body));
  const said = await drawn.json();
  if (route === "v1/embed") Object.assign(said, facts);
  else said.gps = facts.gps && { lat: facts.gps[0], lon: facts.gps[1] };
  return Response.json(said);
}
