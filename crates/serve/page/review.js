// The review page: photos with their places, what a person does with them, and what is written in the end. The server keeps every act; this page
// shows what it says.
import { Globe } from "./globe.js";
import { Grid } from "./grid.js";
import { furnish, hypothesisFor, percent, text } from "./parts.js";
import { Strip } from "./strip.js";
import { Tiles } from "./tiles.js";
import { caption, inTime, km, when } from "./trip.js";

const $ = (id) => document.getElementById(id);
const globe = new Globe($("globe"));
// In order of time, and by their keys.
let photos = [];
const byKey = new Map();
// The photo that is looked at, and the keys of all that are selected.
let shown = null, chosen = new Set();
// Where a range of photos begins, and whether the grid is shown instead of strip and map.
let anchor = null, isGrid = false, painting = 0;
// From so many photos on a session begins with the grid.
const MANY = 100;
let version = 0, polling = 0, isBusy = true, isSeveral = false, hasEnded = false, clocks = "";

function say(words, isWrong = false) {
  $("status").textContent = words;
  $("status").classList.toggle("wrong", isWrong);
}

// ---- the server
function ended() {
  hasEnded = true;
  clearTimeout(polling);
  say("The session has ended. The same command continues it.", true);
}

async function refresh() {
  clearTimeout(polling);
  try {
    take(await (await fetch(`/review/state?since=${version}`)).json());
  } catch {
    if (!hasEnded) ended();
  }
}

// Does something, and shows what is then; a refusal is said.
async function post(route, body) {
  try {
    const response = await fetch(`/review/${route}`, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) { say(await response.text(), true); return false; }
    say("");
    take(await response.json());
    return true;
  } catch {
    ended();
    return false;
  }
}

const act = (name, more) => post("act", { act: name, ...more });

function take(state) {
  isBusy = state.is_busy;
  $("work").hidden = !isBusy;
  if (isBusy) {
    const { what, done, all } = state.work ?? { what: "Placing", done: 0, all: 0 };
    $("working").textContent = all ? `${what}: ${done.toLocaleString("en")} of ${all.toLocaleString("en")}` : `${what} …`;
    $("bar").max = all || 1;
    if (all) $("bar").value = done; else $("bar").removeAttribute("value");
    polling = setTimeout(refresh, 250);
  }
  const isNew = state.photos && state.version !== version;
  version = state.version;
  if (isNew) render(state);
  buttons();
}

function render(state) {
  $("title").textContent = `Review: ${state.title}`;
  document.title = `LocDiff: review ${state.title}`;
  if (state.problem) say(state.problem, true);
  else if (state.told) say(state.told);
  if (!state.is_read) return;
  const isFirst = !byKey.size;
  for (const [k, said] of state.photos.entries()) {
    const photo = byKey.get(said.key) ?? { small: `/review/photo?k=${k}` };
    byKey.set(said.key, Object.assign(photo, said, { number: k, trip: said.said, tripError: said.error }));
  }
  photos = inTime([...byKey.values()]);
  $("room").hidden = false;
  $("undo").dataset.words = state.undo ?? "";
  $("redo").dataset.words = state.redo ?? "";
  renderWays(state.ways);
  renderClocks(state.clocks);
  if (!isFirst) { show(shown, true); return; }
  cameras();
  const first = photos.find((photo) => photo.trip) ?? photos[0];
  chosen = new Set(first ? [first.key] : []);
  show(first, false);
  if (photos.length > MANY) view(true);
}

// ---- the strip
function mark(photo) {
  if (photo.written) return text("span", "written", "mark yes");
  if (photo.gps || !photo.trip) return null;
  if (photo.decided === false) return text("span", "✗ refused", "mark wrong");
  return photo.take ? text("span", "✓ ticked", "mark yes") : text("span", "not ticked", "mark quiet");
}

const strip = new Strip($("photos"), (button, photo) => {
  const image = document.createElement("img");
  image.alt = photo.name;
  image.src = photo.small;
  button.setAttribute("aria-pressed", String(chosen.has(photo.key)));
  button.replaceChildren(image, ...[mark(photo)].filter(Boolean), ...caption(photo));
}, (photo, event) => pick(photos, photo, event));

// A photo of a list was chosen: alone, up to it, or together with others.
function pick(list, photo, event) {
  const begin = list.indexOf(anchor);
  if (event.shiftKey && begin >= 0) {
    const [from, to] = [begin, list.indexOf(photo)].sort((a, b) => a - b);
    chosen = new Set(keys(list.slice(from, to + 1)));
  } else {
    anchor = photo;
    if (event.type === "click" && (isSeveral || event.ctrlKey || event.metaKey)) {
      if (chosen.has(photo.key) && chosen.size > 1) chosen.delete(photo.key); else chosen.add(photo.key);
    } else if (!(isSeveral && event.type === "keydown")) chosen = new Set([photo.key]);
  }
  show(photo, chosen.size > 1);
}

// ---- the grid
const isUnsure = (photo) => photo.trip && !photo.gps && !photo.take && photo.decided === null;
const FILTERS = { all: () => true, unsure: isUnsure, untagged: (photo) => !photo.gps, ticked: (photo) => photo.take };
const DATE = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const day = (photo) => photo.trip?.time.text?.slice(0, 10) ?? "";
const date = (text) => (text ? DATE.format(new Date(`${text}T00:00:00Z`)) : "No date");
const GROUPS = {
  day: [day, ([first]) => date(day(first))],
  trip: [(photo) => photo.trip?.trip ?? 0, (list, number) => `${number ? `Trip ${number}` : list[0].trip ? "One trip" : "Cannot be read"}, ${[...new Set([list[0], list.at(-1)].map((photo) => date(day(photo))))].join(" to ")}`],
  folder: [(photo) => photo.name.slice(0, Math.max(0, photo.name.lastIndexOf("/"))), (_, name) => name || "Not in a folder"],
};

const grid = new Grid($("cells"), (cell, photo) => {
  const image = cell.querySelector("img") ?? document.createElement("img"), said = photo.trip, is = mark(photo) ?? text("span", said ? "GPS tag" : "cannot be read", said ? "tag" : "wrong");
  image.alt = photo.name;
  if (image.getAttribute("src") !== photo.small) image.src = photo.small;
  cell.title = photo.name;
  cell.setAttribute("aria-selected", String(chosen.has(photo.key)));
  cell.replaceChildren(image, is, text("span", said ? when(said.time) : photo.name, "when"), text("span", said ? `${said.can_tell ? "" : "? "}${said.headline ?? said.place}` : "", "where"));
}, (photo, event) => {
  if (Array.isArray(photo)) select(photo);
  else if (event.key === "Enter" || event.type === "dblclick") { if (!chosen.has(photo.key)) chosen = new Set([photo.key]); shown = photo; view(false); $("globe").focus(); }
  else if (event.key === " ") { const list = open(); if (list.length) act("take", { photos: keys(list), take: list.some((one) => !one.take) }); }
  else if (event.key?.toLowerCase() === "a") select(grid.photos);
  else pick(grid.photos, photo, event);
});

function cameras() {
  const names = [...new Set(photos.map((photo) => photo.camera ?? ""))].sort();
  $("lens").replaceChildren(new Option("all cameras", "all"), ...names.map((name) => new Option(name || "no camera named", `=${name}`)));
}

// What the grid shows. Photos that it no longer shows are no longer selected: nothing happens to what is not seen.
function sift() {
  const fits = FILTERS[$("which").value], lens = $("lens").value, [keyOf, nameOf] = GROUPS[$("by").value], groups = new Map(), at = grid.photos.indexOf(shown);
  for (const photo of photos) {
    if (!fits(photo) || (lens !== "all" && `=${photo.camera ?? ""}` !== lens)) continue;
    const key = keyOf(photo);
    if (groups.has(key)) groups.get(key).push(photo); else groups.set(key, [photo]);
  }
  const list = [...groups].map(([key, list]) => ({ name: nameOf(list, key), photos: list })), seen = list.flatMap((group) => group.photos);
  chosen = new Set(keys(seen).filter((key) => chosen.has(key)));
  const isGone = seen.length && !seen.includes(shown);
  if (isGone) shown = seen.find((photo) => chosen.has(photo.key)) ?? seen[Math.max(0, Math.min(at, seen.length - 1))];
  if (isGone && !chosen.size) { chosen.add(shown.key); anchor = shown; }
  $("sifted").textContent = `${seen.length.toLocaleString("en")} of ${photos.length.toLocaleString("en")} shown`;
  grid.set(list, shown);
  grid.reveal(shown);
}

function view(asGrid) {
  isGrid = asGrid;
  $("grid").hidden = !isGrid;
  $("map").hidden = $("photos").hidden = isGrid;
  $("as-grid").setAttribute("aria-pressed", String(isGrid));
  $("as-map").setAttribute("aria-pressed", String(!isGrid));
  show(shown, isGrid);
  if (isGrid) $("cells").focus();
}
for (const id of ["by", "which", "lens"]) $(id).addEventListener("change", () => show(shown, true));
$("as-grid").addEventListener("click", () => view(true));
$("as-map").addEventListener("click", () => view(false));
// Whoever came to the map from the grid goes back.
$("globe").addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.defaultPrevented) view(true); });

const selected = () => photos.filter((photo) => chosen.has(photo.key));
// Those of them that can get a place.
const open = () => selected().filter((photo) => photo.trip && !photo.gps);
const keys = (list) => list.map((photo) => photo.key);

function select(list) {
  chosen = new Set(keys(list));
  if (list.length && !chosen.has(shown?.key)) shown = list[0];
  show(shown, true);
}

// ---- what is looked at
function look(photo) {
  if (chosen.has(photo.key)) return "chosen";
  if (photo.gps) return "tag";
  if (photo.decided === false) return "refused";
  return photo.moved ? "moved" : photo.take ? "ticked" : "guess";
}

const stops = (moved = new Map()) => photos.filter((photo) => photo.trip).map((photo) => (
  { at: moved.get(photo.number) ?? [photo.trip.best.lon, photo.trip.best.lat], look: look(photo) }));

function way() {
  const sure = photos.filter(({ trip: said }) => said?.can_tell && !said.outlier);
  return sure.length > 1 ? [sure.map(({ trip: { best } }) => [best.lon, best.lat])] : [];
}

function show(photo, stays) {
  const before = shown;
  shown = photo;
  if (isGrid) sift();
  else {
    strip.set(photos, 136, (one) => one === shown);
    if (shown) strip.reveal(photos.indexOf(shown));
  }
  photo = shown;
  const isOther = photo !== before, said = photo?.trip;
  $("answer").hidden = $("legend").hidden = !said;
  if (photo?.tripError) say(photo.tripError, true);
  buttons();
  if (!said) { globe.clear(); return; }
  const picture = `/review/photo?k=${photo.number}&size=large`;
  if ($("picture").dataset.of !== picture) {
    // Whoever walks on needs no large picture.
    clearTimeout(painting);
    $("picture").dataset.of = picture;
    $("picture").src = photo.small;
    painting = setTimeout(() => { $("picture").src = picture; }, 150);
  }
  $("picture").alt = photo.name;
  $("name").textContent = `${photo.name}, ${when(said.time)}${photo.camera ? `, ${photo.camera}` : ""}`;
  $("place").textContent = `${said.can_tell ? "" : "I can’t tell where this was taken: "}${said.headline ?? said.place}`;
  $("words").textContent = photo.moved ? `To within ${km(said.radius_90_km)}.` : `Half within ${km(said.radius_50_km)}, nine in ten within ${km(said.radius_90_km)}.`;
  $("because").textContent = `Because: ${said.because}.`;
  const odd = said.outlier ?? said.hint;
  $("odd").textContent = odd ? `${said.outlier ? "Does not fit" : "May not fit"} (${percent(odd.probability)}): ${odd.reason}.` : "";
  const places = [{ ...said.best, probability: said.probability, place: said.place }, ...said.alternatives];
  $("others").hidden = photo.moved || Boolean(photo.gps);
  $("hypotheses").replaceChildren(...places.map(hypothesisFor(globe)));
  $("search").hidden = Boolean(photo.gps);
  $("drag").hidden = Boolean(photo.gps) || isGrid;
  if (isOther) { $("towns").replaceChildren(); $("town").value = ""; }
  $("globe").setAttribute("aria-label", `A globe turned to ${said.place}. Arrow keys turn it, plus and minus zoom, Shift and arrow keys move the pin, Enter puts it down.`);
  const placed = photos.filter((other) => other.trip);
  globe.whenChosen = (k) => { chosen = isSeveral ? chosen.add(placed[k].key) : new Set([placed[k].key]); show(placed[k], true); };
  globe.whenMoved = photo.gps ? null : (place, kmPerPixel) => {
    if (!place) { show(shown, true); return; }
    // As well as a hand can point.
    move(place, Math.min(500, Math.max(0.01, 6 * kmPerPixel)), "the pin");
  };
  globe.whenNudged = ([lon, lat]) => say(`The pin is at ${lat.toFixed(3)}, ${turned(lon).toFixed(3)}: Enter confirms, Escape cancels.`);
  if (!isGrid) globe.showOfTrip(said, way(), stops(), stays);
}

// ---- acts
const turned = (lon) => ((lon + 540) % 360 + 360) % 360 - 180;

async function move([lon, lat], radius, how) {
  const list = open();
  if (!list.length || !(await act("move", { photos: keys(list), lat, lon: turned(lon), radius_km: radius, how }))) show(shown, true);
}

function buttons() {
  const list = open(), isIdle = !hasEnded;
  $("count").textContent = `${chosen.size.toLocaleString("en")} of ${photos.length.toLocaleString("en")} selected`;
  $("tick").disabled = !isIdle || !list.some((photo) => !photo.take);
  $("refuse").disabled = !isIdle || !list.some((photo) => photo.decided !== false);
  $("same").disabled = !isIdle || !shown?.trip || !list.some((photo) => photo !== shown);
  $("release").disabled = !isIdle || !list.some((photo) => photo.moved || photo.decided !== null);
  for (const name of ["undo", "redo"]) {
    $(name).disabled = !isIdle || !$(name).dataset.words;
    $(name).title = $(name).dataset.words ?? "";
  }
  $("past-words").textContent = $("undo").dataset.words ? `last: ${$("undo").dataset.words}` : "";
  const ticked = photos.filter((photo) => photo.take && !photo.written).length, written = photos.filter((photo) => photo.written).length;
  $("apply").textContent = `write ${ticked.toLocaleString("en")} place${ticked === 1 ? "" : "s"}`;
  $("apply").disabled = !isIdle || !ticked || isBusy;
  $("back").hidden = !written;
  $("back").disabled = isBusy || hasEnded;
  $("back").textContent = `undo writing (${written.toLocaleString("en")})`;
}

$("tick").addEventListener("click", () => act("take", { photos: keys(open()), take: true }));
$("refuse").addEventListener("click", () => act("take", { photos: keys(open()), take: false }));
$("release").addEventListener("click", async () => {
  const list = open(), moved = list.filter((photo) => photo.moved), decided = list.filter((photo) => photo.decided !== null);
  if (moved.length) await act("release", { photos: keys(moved) });
  if (decided.length) await act("take", { photos: keys(decided), take: null });
});
$("same").addEventListener("click", () => {
  const { best, radius_90_km: radius } = shown.trip, others = open().filter((photo) => photo !== shown);
  act("move", { photos: keys(others), lat: best.lat, lon: best.lon, radius_km: Math.min(2000, Math.max(0.01, radius)), how: `the place of ${shown.name}`.slice(0, 190) });
});
$("undo").addEventListener("click", () => act("undo"));
$("redo").addEventListener("click", () => act("redo"));
document.addEventListener("keydown", (event) => {
  const isText = event.target.matches?.("input[type=search]");
  if (!(event.ctrlKey || event.metaKey) || isText) return;
  const key = event.key.toLowerCase();
  if (key === "z") { event.preventDefault(); act(event.shiftKey ? "redo" : "undo"); }
  else if (key === "y") { event.preventDefault(); act("redo"); }
  else if (key === "a" && $("photos").contains(event.target)) { event.preventDefault(); select(photos); }
});
$("several").addEventListener("click", () => {
  isSeveral = !isSeveral;
  $("several").setAttribute("aria-pressed", String(isSeveral));
  if (!isSeveral && shown) select([shown]);
});
$("all").addEventListener("click", () => select(isGrid ? grid.photos : photos));
$("unsure").addEventListener("click", () => {
  const list = (isGrid ? grid.photos : photos).filter(isUnsure);
  if (list.length) select(list); else say("No photo is both unsure and undecided.");
});

// ---- towns
$("search").addEventListener("submit", async (event) => {
  event.preventDefault();
  const words = $("town").value.trim();
  const found = words ? await (await fetch(`/review/towns?q=${encodeURIComponent(words)}`)).json().catch(() => []) : [];
  $("towns").replaceChildren(...found.map((town) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.append(town.name, " ", text("small", town.of));
    button.addEventListener("click", () => move([town.lon, town.lat], town.radius_km, /^-?\d/.test(town.name) ? "numbers" : `the town ${town.name}`.slice(0, 190)).then(() => {
      $("towns").replaceChildren();
      $("town").focus();
      globe.turnTo([town.lon, town.lat]);
    }));
    item.append(button);
    return item;
  }));
  say(words ? (found.length ? `${found.length} found` : "No town of that name was found.") : "");
  $("towns").querySelector("button")?.focus();
});

// ---- clocks
const ahead = (seconds) => {
  const minutes = Math.round(Math.abs(seconds) / 60), hours = Math.floor(minutes / 60);
  return minutes ? `${hours ? `${hours} h ` : ""}${minutes % 60} min ${seconds > 0 ? "ahead" : "behind"}` : "right";
};

// Places along the track while a slider moves: one question at a time, the last one wins.
const REST_MS = 800;
let asking = null, next = null, resting = 0;
async function along(camera, seconds) {
  next = [camera, seconds];
  if (asking) return;
  while (next) {
    const [name, value] = next;
    next = null;
    asking = fetch(`/review/along?camera=${encodeURIComponent(name)}&ahead_s=${value}`);
    const found = await asking.then((answer) => answer.json()).catch(() => []);
    asking = null;
    globe.setStops(stops(new Map(found.map(([k, lon, lat]) => [k, [lon, lat]]))));
    $("globe").dataset.along = found.length ? `${found[0][1].toFixed(4)},${found[0][2].toFixed(4)}` : "";
  }
}

function renderClocks(list) {
  const words = JSON.stringify(list.map(({ camera, photos: count, found_s: found }) => [camera, count, found]));
  $("clocks").hidden = !list.length;
  if (words === clocks) {
    // Whoever turns one goes on.
    for (const [k, input] of [...$("clock-list").querySelectorAll("input")].entries()) if (!resting || input !== document.activeElement) { input.value = Math.round(list[k].ahead_s / 60); input.tell(); }
    return;
  }
  clocks = words;
  $("clock-list").replaceChildren(...list.map(({ camera, photos: count, found_s: found, ahead_s: now }, k) => {
    const box = document.createElement("div"), label = document.createElement("label"), input = document.createElement("input"), output = document.createElement("output");
    box.className = "clock";
    input.id = `clock-${k}`;
    label.htmlFor = input.id;
    label.textContent = `${camera || "no camera named"}: ${count} photo${count === 1 ? "" : "s"}${found ? `; found to be ${ahead(found)}` : ""}`;
    const middle = 60 * Math.round(found / 3600);
    Object.assign(input, { type: "range", min: middle - 840, max: middle + 840, step: 1, value: Math.round(now / 60) });
    const tell = () => { output.textContent = ahead(60 * input.value); input.setAttribute("aria-valuetext", output.textContent); };
    input.tell = tell;
    tell();
    input.addEventListener("input", () => { tell(); along(camera, 60 * input.value); });
    // Keys change it a minute at a time: an act is where it comes to rest.
    input.addEventListener("change", () => {
      clearTimeout(resting);
      resting = setTimeout(() => { resting = 0; act("clock", { camera, ahead_s: Math.abs(60 * input.value - found) < 30 ? null : 60 * input.value }); }, REST_MS);
    });
    output.htmlFor = input.id;
    box.append(label, input, output);
    return box;
  }));
}

// ---- files
function renderWays(ways) {
  if ($("ways").childElementCount) return;
  $("ways").replaceChildren(...ways.map(([name, words], k) => {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "radio", name: "way", value: name, checked: k === 0 });
    label.append(input, words);
    return label;
  }));
}

$("write").addEventListener("submit", (event) => {
  event.preventDefault();
  post("write", { way: document.querySelector("#ways input:checked")?.value ?? "" });
});
$("back").addEventListener("click", () => post("take-back", {}));
$("done").addEventListener("click", async () => {
  await fetch("/review/done", { method: "POST" }).catch(() => {});
  ended();
  say("Saved. This page can be closed.");
  $("done").disabled = true;
});
if (document.body.dataset.tiles) {
  globe.tiles = new Tiles(document.body.dataset.tiles, () => globe.redraw());
  $("tiles-from").textContent = `Map tiles: ${new URL(document.body.dataset.tiles).origin}, which learns which parts of the map you view.`;
}
furnish(globe);
refresh();
