// Photos in, answers out: everything but the globe.
import { Film } from "/page/film.js";
import { Zip, answersOf, csv, geojson, gpx, kml, placesCsv } from "/page/files.js";
import { Globe } from "/page/globe.js";
import { album, ask, embed, patiently, preview, setKey, tag } from "/page/server.js";
import { Strip } from "/page/strip.js";
import { caption, clocks, inTime, km, thumbnail, when } from "/page/trip.js";

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
const percent = (share) => (share < 0.005 ? "< 1 %" : share > 0.995 ? "> 99 %" : `${Math.round(100 * share)} %`);
const degrees = ({ lat, lon }) => `${Math.abs(lat).toFixed(3)}° ${lat < 0 ? "S" : "N"}, ${Math.abs(lon).toFixed(3)}° ${lon < 0 ? "W" : "E"}`;

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
    again: (seconds) => say(`The server is busy: again in ${seconds} s`),
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
      const response = await patiently(() => ask(photo, "locate", { density: "all" }, run.signal), run.again, run.signal);
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
  Object.assign(together, { files: photos.map((photo) => photo.file), name: `${photos.length} photos of one place`, first: photos[0], steps: null });
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
  const image = $("picture");
  image.onerror = async () => {
    image.onerror = null;
    photo.url = await preview(photo).catch(() => "");
    if (shown === photo || shown === together) image.src = photo.url;
  };
  if (photo.isForeign && photo.small) { image.src = photo.small; return; }
  image.src = photo.url ??= URL.createObjectURL(photo.file);
}

// A photo of the trip: where it was, by all of them.
function showOfTrip(photo) {
  const said = photo.trip;
  say(photo.tripError ?? clocks(trip?.clocks ?? []), Boolean(photo.tripError));
  $("answer").hidden = !said;
  $("legend").hidden = !said;
  if (!said) return;
  picture(photo);
  $("name").textContent = `${photo.name}, ${when(said.time)}`;
  $("place").textContent = said.can_tell ? said.place : `I can’t tell. A guess: ${said.place}`;
  $("words").textContent = `50 % within ${km(said.radius_50_km)}, 90 % within ${km(said.radius_90_km)}.`
    + (said.moved_km > 1 && !said.gps ? ` Alone it would be ${km(said.moved_km)} away.` : "");
  $("because").textContent = `Because: ${said.because}.`;
  const odd = said.outlier ?? said.hint;
  $("odd").textContent = odd ? `${said.outlier ? "Does not fit" : "May not fit"} (${percent(odd.probability)}): ${odd.reason}.` : "";
  const places = [{ ...said.best, probability: said.probability, place: said.place }, ...said.alternatives];
  $("hypotheses").replaceChildren(...places.map(hypothesis));
  const facts = [["best place", degrees(said.best)]];
  if (said.gps) facts.push(["the photo’s GPS tag", degrees(said.gps)]);
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

function show(photo) {
  film.close();
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
  $("name").textContent = photo.name;
  $("place").textContent = answer.can_tell ? answer.place : `I can’t tell. A guess: ${answer.place}`;
  $("words").textContent =
    `Half of all photos answered like this one were taken within ${km(answer.radius_50_km)} of it, nine in ten within ${km(answer.radius_90_km)}.`
    + ` The chance that it is right to within 750 km is ${percent(answer.locatability)}.`;
  $("within").value = photo.within ?? "";
  $("anywhere").hidden = !photo.within;
  globe.setCircle(circleOf(photo.within));
  $("hypotheses").replaceChildren(...answer.hypotheses.map(hypothesis));
  const facts = [["best place", degrees(answer.best)], ["50 % region", `${Math.round(answer.area_50_km2).toLocaleString("en")} km²`],
    ["90 % region", `${Math.round(answer.area_90_km2).toLocaleString("en")} km²`]];
  if (answer.gps) facts.push(["the photo’s GPS tag (not used)", degrees(answer.gps)]);
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
  $("play").textContent = isOpen ? "close the film" : "watch the samples leave the noise";
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

function text(tag, words, name = "") {
  const element = document.createElement(tag);
  element.textContent = words;
  element.className = name;
  return element;
}

function hypothesis(place, k) {
  const item = document.createElement("li"), button = document.createElement("button"), bar = text("span", "", "bar"), part = text("span", "");
  part.style.width = `${100 * place.probability}%`;
  bar.append(part);
  button.type = "button";
  button.append(text("span", String(k + 1), "rank"), text("span", place.place), text("span", percent(place.probability), "share"), bar);
  button.addEventListener("click", () => globe.turnTo([place.lon, place.lat]));
  item.append(button);
  return item;
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
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${stem}.${format}`;
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
$("play").addEventListener("click", play);
$("sameness").addEventListener("change", () => { restrip(); locateAll(); });
$("cancel").addEventListener("click", () => {
  const { done, all } = work ?? { done: 0, all: 0 };
  work?.stop.abort();
  work = null;
  tell(null);
  say(`Stopped after ${done} of ${all}: choose how they belong together, or add photos, to go on`);
});
$("remove").addEventListener("click", () => { if (photos.includes(shown)) remove(shown); });
$("clear").addEventListener("click", clear);
$("example").addEventListener("click", async () => {
  const blob = await (await fetch("/page/example.jpg")).blob();
  add([new File([blob], "example.jpg", { type: "image/jpeg" })]);
});
$("access").addEventListener("submit", (event) => {
  event.preventDefault();
  setKey($("key").value);
  $("access").hidden = true;
  locateAll();
});
$("downloads").addEventListener("click", (event) => { if (event.target.dataset.format) download(event.target.dataset.format); });
$("in").addEventListener("click", () => globe.zoomBy(1.4));
$("out").addEventListener("click", () => globe.zoomBy(1 / 1.4));
$("flat").addEventListener("click", () => {
  const isFlat = $("flat").getAttribute("aria-pressed") !== "true";
  $("flat").setAttribute("aria-pressed", String(isFlat));
  globe.setFlat(isFlat);
});
const dark = (isDark) => { document.documentElement.classList.toggle("dark", isDark); globe.redraw(); };
const prefers = matchMedia("(prefers-color-scheme: dark)");
dark(prefers.matches);
prefers.addEventListener("change", () => dark(prefers.matches));
$("theme").addEventListener("click", () => dark(!document.documentElement.classList.contains("dark")));
// Names of countries, where the server tells them without a key.
fetch("/v1/regions").then((response) => (response.ok ? response.json() : { countries: [] })).then(({ countries }) => {
  $("countries").replaceChildren(...countries.map(({ name }) => new Option(name, name)));
}).catch(() => {});
restrip();
