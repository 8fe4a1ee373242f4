// Photos in, answers out: everything but the globe.
import { hasServer, send, whereabouts } from "./backend.js";
import { Clues } from "./clues.js";
import { Exposure } from "./expose.js";
import { Film } from "./film.js";
import { Zip, answersOf, csv, geojson, gpx, kml, placesCsv } from "./files.js";
import { Globe } from "./globe.js";
import { degrees, furnish, hypothesisFor, percent, text } from "./parts.js";
import { Reading } from "./reading.js";
import { album, ask, embed, patiently, preview, setKey, tag } from "./server.js";
import { Strip } from "./strip.js";
import { caption, clocks, inTime, km, thumbnail, when } from "./trip.js";
import { fillReport, ledgerTable } from "./why.js";

const $ = (id) => document.getElementById(id);
const globe = new Globe($("globe"));
// Photos that are sent at once; an answer is asked for when so many are there, then for twice as many, and at the end.
const LANES = 2, FIRST_ANSWER = 4;
let photos = [];
// All photos as of one place: an answer like a photo's, with several files.
const together = { files: [] };
// What was said of all photos as of one trip.
let trip = null;
let shown = null;
// What is under way: its signal, photos done and photos in all.
let work = null;
const isTrip = () => $("trip").checked;
const film = new Film($("step"), (places) => globe.setSamples(places), (step, count) => {
  $("moment").textContent = `step ${step + 1} of ${count}`;
  $("step").setAttribute("aria-valuetext", $("moment").textContent);
});

// ---- words
function say(text, isWrong = false) {
  $("status").textContent = text;
  $("status").classList.toggle("wrong", isWrong);
}

// ---- what is under way
// Begins, and ends whatever was under way.
function begin(words, all) {
  work?.stop.abort();
  film.close();
  work = { stop: new AbortController(), words, done: 0, all };
  const own = work;
  tell(own);
  return {
    signal: own.stop.signal,
    step() { own.done++; tell(own); },
    again: (seconds) => say(`The server is busy: trying again in ${seconds} s`),
    // Whether it ended by itself.
    end(error) {
      if (work === own) { work = null; tell(null); }
      if (own.stop.signal.aborted) return false;
      if (error) fail(error);
      return !error;
    },
  };
}

function tell(own) {
  if (own && own !== work) return;
  $("work").hidden = !own;
  if (!own) return;
  $("working").textContent = own.all > 1 ? `${own.words}: ${own.done.toLocaleString("en")} of ${own.all.toLocaleString("en")}` : own.words;
  $("bar").max = own.all;
  $("bar").value = own.done;
  if ($("status").textContent) say("");
}

function fail(error) {
  if (error.needsKey) {
    $("access").hidden = false;
    $("key").focus();
  }
  say(error.message, true);
}

async function locate(list) {
  const run = begin(list.length > 1 ? "Photos answered" : `Looking at ${list[0].name} …`, list.length);
  for (const [k, photo] of list.entries()) {
    try {
      const response = await patiently(() => ask(photo, "locate", { density: "all", ...(photo.isAskedWhy ? { why: "true" } : {}) }, run.signal), run.again, run.signal);
      photo.answer = await response.json();
      photo.error = null;
    } catch (error) {
      if (run.signal.aborted) return;
      if (error.needsKey) { run.end(error); return; }
      photo.error = error.message;
    }
    run.step();
    strip.refresh(photo);
    if (k === 0) show(photo);
  }
  run.end();
  if (list.length === 1 && shown === list[0]) show(list[0]);
}

// Photos go to the server one by one and come back as numbers; the trip is answered from those, again and again as they come.
async function locateTrip() {
  const asked = photos, run = begin("Photos read", asked.length);
  document.body.classList.add("trip");
  const waiting = asked.filter((photo) => !photo.row && !photo.tripError);
  for (let k = waiting.length; k < asked.length; k++) run.step();
  let next = FIRST_ANSWER, failed = null, answering = null;
  const answer = async () => {
    const list = asked.filter((photo) => photo.row);
    const said = await patiently(() => album(list.map((photo) => photo.row), run.signal), run.again, run.signal);
    for (const [k, photo] of list.entries()) photo.trip = said.photos[k];
    trip = said;
    show(asked.includes(shown) && shown.trip ? shown : inTime(asked)[0]);
  };
  const lane = async () => {
    for (let photo; (photo = waiting.shift()) && !failed;) {
      try {
        photo.row = await patiently(() => embed(photo, run.signal), run.again, run.signal);
      } catch (error) {
        if (run.signal.aborted || error.needsKey) { failed = error; return; }
        photo.tripError = error.message;
      }
      run.step();
      strip.refresh(photo);
      const ready = asked.reduce((sum, one) => sum + Number(Boolean(one.row)), 0);
      if (ready >= next && waiting.length && !answering) {
        next = 2 * ready;
        answering = answer().catch((error) => { failed ??= run.signal.aborted ? error : null; }).finally(() => { answering = null; });
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await answering;
  try {
    if (failed) throw failed;
    if (asked.some((photo) => photo.row)) await answer();
    else show(asked[0]);
    run.end();
  } catch (error) {
    run.end(error);
  }
}

async function locateTogether() {
  Object.assign(together, { files: photos.map((photo) => photo.file), name: `${photos.length} photos of one place`, first: photos[0], steps: null, lines: null, ignored: null, isUnread: false });
  await locate([together]);
}

// What is asked of all photos, by how they belong together.
function locateAll() {
  if (!photos.length) return;
  if (isTrip()) locateTrip();
  else if ($("together").checked) locateTogether();
  else {
    const left = photos.filter((photo) => !photo.answer && !photo.error);
    if (left.length) locate(left);
    else show(photos.includes(shown) ? shown : photos[0]);
  }
}

function add(files) {
  const added = [...files].map((file, k) => ({ file, name: file.name || `pasted ${photos.length + k + 1}` }));
  if (!added.length) return;
  photos = [...photos, ...added];
  if (added.length > 1) $("trip").checked = true;
  restrip();
  if (!isTrip() && !$("together").checked) shown = added[0];
  locateAll();
}

function forget(photo) {
  for (const url of [photo.small, photo.url]) if (url) URL.revokeObjectURL(url);
}

// Nothing is shown until a photo is.
function empty() {
  shown = null;
  say("");
  $("answer").hidden = $("legend").hidden = true;
  globe.clear();
}

function remove(photo) {
  const before = isTrip() ? inTime(photos) : photos, at = before.indexOf(photo);
  photos = photos.filter((other) => other !== photo);
  forget(photo);
  const next = before[at + 1] ?? before[at - 1];
  if (!photos.length) { clear(); return; }
  if (photos.length === 1) $("alone").checked = true;
  shown = next;
  restrip();
  locateAll();
}

function clear() {
  work?.stop.abort();
  work = null;
  tell(null);
  photos.forEach(forget);
  photos = [];
  trip = null;
  $("alone").checked = true;
  empty();
  restrip();
  $("choose").focus();
}

// ---- the panel
const strip = new Strip($("photos"), (button, photo) => {
  const image = document.createElement("img");
  image.alt = photo.name;
  if (photo.small) image.src = photo.small;
  else if (photo.small === undefined) {
    photo.small = null;
    thumbnail(photo).then((small) => { photo.small = small; strip.refresh(photo); });
  }
  button.replaceChildren(image, ...(isTrip() ? caption(photo) : []));
}, (photo) => {
  if (isTrip()) { show(photo); return; }
  $("alone").checked = true;
  if (photo.answer || photo.error) show(photo);
  else locate([photo]);
});

function restrip() {
  const list = isTrip() ? inTime(photos) : photos;
  document.body.classList.toggle("trip", isTrip());
  strip.set(list, isTrip() ? 136 : 74, (photo) => photo === shown || shown === together);
  if (list.includes(shown)) strip.reveal(list.indexOf(shown));
  $("photos").hidden = $("acts").hidden = !photos.length;
  $("example").hidden = photos.length > 0;
  $("sameness").hidden = photos.length < 2;
}

// The photo itself; by the server where the browser cannot show it.
function picture(photo) {
  const image = $("picture"), put = (url) => { if (image.src !== url) image.src = url; };
  image.onerror = async () => {
    image.onerror = null;
    photo.isForeign = true;
    photo.url = await preview(photo).catch(() => "");
    if (shown === photo || shown === together) put(photo.url);
  };
  if (photo.isForeign && photo.small) { put(photo.small); return; }
  put(photo.url ??= URL.createObjectURL(photo.file));
}

// ---- what is known of a photo, what was read in it, what gives it away
const reading = new Reading((photo) => locate([photo])), clues = new Clues((photo) => locate([photo]));
const exposure = new Exposure(save, (error) => { if (error.needsKey) fail(error); });

const TABS = ["where", "away"];

// The tab that is seen; a trip and several photos as one have the first alone.
function setTab(name) {
  const seen = isTrip() || shown?.files ? TABS[0] : name;
  for (const one of TABS) {
    $(`tab-${one}`).setAttribute("aria-selected", String(one === seen));
    $(`tab-${one}`).tabIndex = one === seen ? 0 : -1;
    $(one).hidden = one !== seen;
  }
  exposure.show(seen === "away" ? shown : null);
}

const tab = () => TABS.find((name) => $(`tab-${name}`).getAttribute("aria-selected") === "true");

// ---- why here
function paintLedger({ isAskedWhy, answer: { ledger = [] } }) {
  $("ledger").hidden = !isAskedWhy;
  $("why").setAttribute("aria-expanded", String(Boolean(isAskedWhy)));
  $("ledger-rows").replaceChildren(ledger.length ? ledgerTable(ledger) : text("p", "This answer has no separate factors."));
}

function why() {
  const photo = shown;
  photo.isAskedWhy = !photo.isAskedWhy;
  if (photo.isAskedWhy && !photo.answer.ledger) locate([photo]);
  else paintLedger(photo);
}

// One page: photo, boxes, map, ledger, model, checksum.
async function printReport() {
  const photo = shown, run = begin("Making the page to print …", 1);
  try {
    const forget = await fillReport($("report"), photo, globe, { headline: headline(photo.answer), words: $("words").textContent });
    if (!run.end()) return;
    document.body.classList.add("reporting");
    addEventListener("afterprint", () => { document.body.classList.remove("reporting"); forget(); }, { once: true });
    print();
  } catch (error) {
    run.end(error);
  }
}

// What an answer says first, and the countries that it may be in.
const headline = (said) => said.can_tell ? said.headline : `I can’t tell where this was taken: ${said.headline}`;

function likeliest({ countries }) {
  const named = countries.slice(0, 3).map(({ name, probability }) => `${name} ${percent(probability)}`);
  return named.length ? `Most likely ${named.join(", ")}. ` : "";
}

// A photo of the trip: where it was, by all of them.
function showOfTrip(photo) {
  const said = photo.trip;
  say(photo.tripError ?? clocks(trip?.clocks ?? []), Boolean(photo.tripError));
  $("answer").hidden = !said;
  $("legend").hidden = !said;
  if (!said) return;
  setTab("where");
  reading.show(null);
  picture(photo);
  $("name").textContent = `${photo.name}, ${when(said.time)}`;
  $("place").textContent = headline(said);
  $("words").textContent = `Half within ${km(said.radius_50_km)}, nine in ten within ${km(said.radius_90_km)}.`
    + (said.moved_km > 1 && !said.gps ? ` Alone it would be ${km(said.moved_km)} away.` : "");
  $("because").textContent = `Because: ${said.because}.`;
  const odd = said.outlier ?? said.hint;
  $("odd").textContent = odd ? `${said.outlier ? "Does not fit" : "May not fit"} (${percent(odd.probability)}): ${odd.reason}.` : "";
  const places = [{ ...said.best, probability: said.probability, place: said.place }, ...said.alternatives];
  $("hypotheses").replaceChildren(...places.map(hypothesisFor(globe)));
  const facts = [["best place", `${degrees(said.best)}, ${said.place}`]];
  if (said.gps) facts.push(["GPS tag", degrees(said.gps)]);
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [text("dt", name), text("dd", value)]));
  $("globe").setAttribute("aria-label", `A globe turned to ${said.place}, with the trip’s track. Arrow keys turn it, plus and minus zoom.`);
  const placed = photos.filter((other) => other.trip);
  globe.setCircle(null);
  globe.whenChosen = (k) => show(placed[k]);
  globe.showOfTrip(said, way(), placed.map(({ trip: { best, can_tell: canTell } }) => ({ at: [best.lon, best.lat], isGuess: !canTell })));
}

// The way of the trip, a line: guesses and what does not fit are not on it.
function way() {
  const sure = inTime(photos).filter(({ trip: said }) => said?.can_tell && !said.outlier);
  return sure.length > 1 ? [sure.map(({ trip: { best } }) => [best.lon, best.lat])] : [];
}

// ---- which parts support the answer
const WHERE = [["top left", "top", "top right"], ["left", "middle", "right"], ["bottom left", "bottom", "bottom right"]];

// Parts that speak for it are left clear, the others veiled: what matters stays to be seen.
function paintParts(parts) {
  const canvas = $("parts"), image = $("picture"), context = canvas.getContext("2d"), ratio = devicePixelRatio || 1;
  canvas.hidden = !parts;
  $("speak").setAttribute("aria-pressed", String(Boolean(parts)));
  $("speaking").textContent = "";
  if (!parts) return;
  $("frame").scrollIntoView({ block: "nearest" });
  const { rows, columns, nats } = parts, most = Math.max(...nats.map(Math.abs), 1e-9);
  const [width, height] = [image.clientWidth, image.clientHeight], scale = Math.min(width / image.naturalWidth, height / image.naturalHeight);
  const [w, h] = [image.naturalWidth * scale, image.naturalHeight * scale], [x, y] = [(width - w) / 2, (height - h) / 2];
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  context.scale(ratio, ratio);
  // Small, then drawn large: soft edges.
  const small = Object.assign(document.createElement("canvas"), { width: columns, height: rows }), cells = small.getContext("2d");
  for (const [k, value] of nats.entries()) {
    cells.fillStyle = `rgb(12 18 24 / ${0.78 * (1 - Math.max(0, value) / most)})`;
    cells.fillRect(k % columns, Math.floor(k / columns), 1, 1);
  }
  context.drawImage(small, x, y, w, h);
  const best = nats.indexOf(Math.max(...nats)), third = (at, count) => Math.min(2, Math.floor((3 * (at + 0.5)) / count));
  const words = WHERE[third(Math.floor(best / columns), rows)][third(best % columns, columns)];
  $("speaking").textContent = nats[best] > 0.1
    ? `Bright parts support the answer, most of all at the ${words}: without that part the place is ${Math.exp(nats[best]).toFixed(nats[best] < 2 ? 1 : 0)} times less probable.`
    : "No single part supports the answer.";
}

async function speak() {
  const photo = shown;
  if ($("speak").getAttribute("aria-pressed") === "true") { paintParts(null); return; }
  const run = begin("Covering one part after the other …", 1);
  try {
    photo.parts ??= await (await patiently(() => ask(photo, "occlusion", {}, run.signal), run.again, run.signal)).json();
    if (run.end() && photo === shown) paintParts(photo.parts);
  } catch (error) {
    run.end(error);
  }
}

function show(photo) {
  film.close();
  paintParts(null);
  draw(false);
  shown = photo;
  restrip();
  if (isTrip()) return showOfTrip(photo);
  say(photo.error ?? "", Boolean(photo.error));
  const answer = photo.answer;
  $("answer").hidden = !answer;
  $("legend").hidden = !answer;
  if (!answer) return;
  picture(photo.first ?? photo);
  $("tabs").hidden = Boolean(photo.files);
  setTab(tab());
  reading.show(photo);
  clues.show(photo);
  paintLedger(photo);
  $("name").textContent = photo.name;
  $("place").textContent = headline(answer);
  $("words").textContent = likeliest(answer)
    + `Half of all photos answered like this one were taken within ${km(answer.radius_50_km)} of the best place, nine in ten within ${km(answer.radius_90_km)}.`
    + ` The chance that it is right to within 750 km is ${percent(answer.locatability)}.`
    + (answer.restricted_by ? ` Restricted by ${answer.restricted_by.join(" or ")}.` : "");
  $("within").value = photo.within ?? "";
  $("anywhere").hidden = !photo.within;
  globe.setCircle(circleOf(photo.within));
  $("hypotheses").replaceChildren(...answer.hypotheses.map(hypothesisFor(globe)));
  const like = answer.gallery?.match;
  $("references").hidden = !like;
  if (like) $("reference").textContent = `${like.name ?? `row ${like.row}`}, ${km(like.distance_km)} away; the gallery has ${percent(answer.gallery.share)} of the probability around it.`;
  $("speak").hidden = Boolean(photo.files);
  const facts = [["best place", `${degrees(answer.best)}, ${answer.place}`], ["50 % region", `${Math.round(answer.area_50_km2).toLocaleString("en")} km²`],
    ["90 % region", `${Math.round(answer.area_90_km2).toLocaleString("en")} km²`]];
  if (answer.gps) facts.push(["GPS tag (not used)", degrees(answer.gps)]);
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [text("dt", name), text("dd", value)]));
  $("globe").setAttribute("aria-label", `A globe turned to ${answer.place}. Arrow keys turn it, plus and minus zoom.`);
  openFilm(false);
  globe.show(answer);
}

// ---- where it is known to be
const CIRCLE = /^\s*([\d.]+)\s*km around\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*$/i;

function circleOf(words) {
  const found = CIRCLE.exec(words ?? "");
  return found && { km: Number(found[1]), at: [Number(found[3]), Number(found[2])] };
}

function restrict(words) {
  if (!shown) return;
  shown.within = words.trim();
  locate([shown]);
}

function restrictToCircle({ at: [lon, lat], km: radius }) {
  const turned = ((lon + 540) % 360 + 360) % 360 - 180;
  restrict(`${radius < 10 ? radius.toFixed(1) : Math.round(radius)} km around ${lat.toFixed(3)},${turned.toFixed(3)}`);
}

function draw(isDrawing) {
  $("draw").setAttribute("aria-pressed", String(isDrawing));
  globe.draws(isDrawing ? (circle) => { draw(false); restrictToCircle(circle); } : null);
  if (isDrawing) $("globe").scrollIntoView({ block: "nearest" });
  if (isDrawing) say("Drag on the map: from the circle’s centre outwards.");
}

// ---- the film
function openFilm(isOpen) {
  $("film").hidden = !isOpen;
  $("play").setAttribute("aria-expanded", String(isOpen));
  $("play").textContent = isOpen ? "hide the sampling steps" : "show the sampling steps";
}

async function play() {
  if (film.isOpen) {
    film.close();
    openFilm(false);
    return;
  }
  const photo = shown;
  say("Drawing samples …");
  try {
    photo.steps ??= (await (await ask(photo, "steps", {})).json()).steps;
  } catch (error) {
    say(error.message, true);
    return;
  }
  if (photo !== shown) return;
  say("");
  openFilm(true);
  $("globe").scrollIntoView({ block: "nearest" });
  globe.turnTo([photo.answer.best.lon, photo.answer.best.lat], 1);
  film.open(photo.steps);
}

// ---- files to keep
const TEXTS = { csv: "text/csv", geojson: "application/geo+json", kml: "application/vnd.google-earth.kml+xml", gpx: "application/gpx+xml" };

// Copies of all photos that are sure enough, one after the other; the others are counted with their reasons.
async function taggedCopies() {
  const answers = answersOf(photos, isTrip()), run = begin("Photos tagged", answers.length), zip = new Zip(), reasons = new Map();
  for (const { photo, said } of answers) {
    try {
      zip.add(photo.name, await patiently(() => tag(photo, said, run.signal), run.again, run.signal));
    } catch (error) {
      if (run.signal.aborted) return null;
      const reason = error.message.replaceAll(photo.name, "the photo");
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    run.step();
  }
  run.end();
  const rest = [...reasons].map(([reason, count]) => `${count} not (${reason})`).join(", ");
  const told = `${zip.count} of ${answers.length} photos tagged${rest ? `; ${rest}` : ""}`;
  if (!zip.count) { say(`Nothing to download: ${told}`); return null; }
  return [zip.blob(), told];
}

async function download(format) {
  const photo = shown, answers = answersOf(photos, isTrip()), isMany = answers.length > 1 && shown !== together;
  let blob, told = "";
  try {
    const all = isMany ? answers : [{ photo, said: isTrip() ? photo.trip : photo.answer }];
    const texts = { csv: () => (isMany || isTrip() ? csv(all) : placesCsv(all[0])), gpx: () => gpx(all), kml: () => kml(all, isTrip() ? way() : []), geojson: () => (isTrip() ? JSON.stringify(trip.track) : geojson(all)) };
    if (format === "zip") {
      const made = await taggedCopies();
      if (!made) return;
      [blob, told] = made;
    } else if (!isMany && !isTrip() && format === "geojson") blob = new Blob([JSON.stringify(photo.answer.density)], { type: TEXTS.geojson });
    else if (format === "png" || (!isMany && !isTrip() && format === "kml")) blob = await (await ask(photo, "locate", { format })).blob();
    else blob = new Blob([texts[format]()], { type: TEXTS[format] });
  } catch (error) {
    fail(error);
    return;
  }
  const stem = isTrip() ? "trip" : (isMany && format !== "png") || format === "zip" ? "photos" : photo.name.replace(/\.[^.]*$/, "");
  save(blob, `${stem}.${format}`, told);
}

function save(blob, name, told = "") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(`${link.download} is downloaded${told ? `: ${told}` : ""}`);
}

// ---- events
for (const input of [$("choose"), $("take")]) {
  input.addEventListener("change", () => { add(input.files); input.value = ""; });
}
document.addEventListener("paste", (event) => {
  const files = [...event.clipboardData.files].filter((file) => file.type.startsWith("image/"));
  if (files.length) add(files);
});
document.addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) $("drop").classList.remove("over"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  add(event.dataTransfer.files);
});
$("known").addEventListener("submit", (event) => {
  event.preventDefault();
  restrict($("within").value);
});
$("circle").addEventListener("submit", (event) => {
  event.preventDefault();
  restrictToCircle({ at: [$("lon").valueAsNumber, $("lat").valueAsNumber], km: $("km").valueAsNumber });
});
$("draw").addEventListener("click", () => {
  const isDrawing = $("draw").getAttribute("aria-pressed") !== "true";
  if (!isDrawing) say("");
  draw(isDrawing);
});
$("anywhere").addEventListener("click", () => { $("within").focus(); restrict(""); });
for (const [k, name] of TABS.entries()) {
  $(`tab-${name}`).addEventListener("click", () => setTab(name));
  $(`tab-${name}`).addEventListener("keydown", ({ key }) => {
    if (!["ArrowLeft", "ArrowRight"].includes(key)) return;
    setTab(TABS[1 - k]);
    $(`tab-${TABS[1 - k]}`).focus();
  });
}
$("why").addEventListener("click", why);
$("print").addEventListener("click", printReport);
$("play").addEventListener("click", play);
$("speak").addEventListener("click", speak);
$("sameness").addEventListener("change", () => { restrip(); locateAll(); });
$("cancel").addEventListener("click", () => {
  const { done, all } = work ?? { done: 0, all: 0 };
  work?.stop.abort();
  work = null;
  tell(null);
  say(`Stopped after ${done} of ${all}: to continue, choose how they belong together or add photos`);
});
$("remove").addEventListener("click", () => { if (photos.includes(shown)) remove(shown); });
$("clear").addEventListener("click", clear);
$("example").addEventListener("click", async () => {
  const blob = await (await fetch(new URL("example.jpg", import.meta.url))).blob();
  add([new File([blob], "example.jpg", { type: "image/jpeg" })]);
});
$("access").addEventListener("submit", (event) => {
  event.preventDefault();
  setKey($("key").value);
  $("access").hidden = true;
  locateAll();
});
$("downloads").addEventListener("click", (event) => { if (event.target.dataset.format) download(event.target.dataset.format); });
furnish(globe);
$("whereabouts").textContent = whereabouts;
$("programs").hidden = !hasServer;
// Names of countries and kinds of clues, where the server tells them without a key.
send("v1/regions").then((response) => (response.ok ? response.json() : { countries: [], clues: [] })).then(({ countries, clues: kinds }) => {
  $("countries").replaceChildren(...countries.map(({ name }) => new Option(name, name)));
  clues.offer(kinds);
}).catch(() => {});
restrip();
