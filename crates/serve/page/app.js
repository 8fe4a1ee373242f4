// Photos in, answers out: everything but the globe.
import { Film } from "/page/film.js";
import { Globe } from "/page/globe.js";
import { caption, clocks, csv as tripCsv, inTime, km, thumbnail, when } from "/page/trip.js";

const $ = (id) => document.getElementById(id);
const globe = new Globe($("globe"));
const photos = [];
// All photos as of one place: an answer like a photo's, with several files.
const together = { files: [] };
// What was said of all photos as of one trip.
let trip = null;
let shown = null, key = "";
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

// ---- the server
async function ask(photo, route, parameters) {
  const query = new URLSearchParams(parameters), headers = {};
  let body = photo.file;
  if (photo.files) {
    body = new FormData();
    for (const [k, file] of photo.files.entries()) body.append("photo", file, file.name || `pasted ${k + 1}`);
    if (route === "locate") query.set("together", "true");
  } else {
    query.set("name", photo.name);
    headers["content-type"] = body.type.startsWith("image/") ? body.type : "application/octet-stream";
  }
  if (photo.within && route === "locate") query.append("within", photo.within);
  if (key) headers["x-api-key"] = key;
  const response = await fetch(`/v1/${route}?${query}`, { method: "POST", headers, body });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({ detail: `the server said ${response.status}` }));
  const wait = response.status === 429 && Number(response.headers.get("retry-after"));
  if (response.status === 401) {
    $("access").hidden = false;
    $("key").focus();
  }
  throw Object.assign(new Error(problem.detail), { wait });
}

// Asks until the server has time.
async function patiently(name, question) {
  film.close();
  say(`Looking at ${name} …`);
  for (;;) {
    try {
      return await (await question()).json();
    } catch (error) {
      if (!error.wait) throw error;
      say(`The server is busy: again in ${error.wait} s`);
      await new Promise((done) => setTimeout(done, 1000 * error.wait));
    }
  }
}

async function locate(photo) {
  try {
    photo.answer = await patiently(photo.name, () => ask(photo, "locate", { density: "all" }));
    photo.error = null;
  } catch (error) {
    photo.error = error.message;
  }
  show(photo);
}

async function locateTrip() {
  const asked = [...photos];
  document.body.classList.add("trip");
  try {
    trip = await patiently(`${asked.length} photos of one trip`, () => ask({ files: asked.map((photo) => photo.file) }, "album", {}));
  } catch (error) {
    say(error.message, true);
    return;
  }
  for (const [k, photo] of asked.entries()) {
    const said = trip.photos[k];
    photo.tripError = said.error;
    photo.trip = said.error ? null : said;
  }
  show(inTime(asked)[0]);
}

async function add(files) {
  const added = [...files].map((file, k) => ({ file, name: file.name || `pasted ${photos.length + k + 1}`, url: URL.createObjectURL(file) }));
  photos.push(...added);
  if (added.length > 1) $("trip").checked = true;
  strip();
  small(added);
  if (isTrip()) await locateTrip();
  else if ($("together").checked) await locateTogether();
  else for (const photo of added) await locate(photo);
}

// Thumbnails, one after the other.
async function small(added) {
  for (const photo of added) {
    photo.small = await thumbnail(photo.file);
    photo.image.src = photo.small;
  }
}

async function locateTogether() {
  together.files = photos.map((photo) => photo.file);
  together.name = `${photos.length} photos of one place`;
  together.url = photos[0].url;
  together.steps = null;
  await locate(together);
}

// ---- the panel
function strip() {
  const list = isTrip() ? inTime(photos) : photos;
  const focused = [...$("photos").querySelectorAll("button")].indexOf(document.activeElement);
  document.body.classList.toggle("trip", isTrip());
  $("photos").replaceChildren(...list.map((photo) => {
    const item = document.createElement("li"), button = document.createElement("button"), image = document.createElement("img");
    if (photo.small) image.src = photo.small;
    photo.image = image;
    image.alt = photo.name;
    button.type = "button";
    button.setAttribute("aria-current", String(photo === shown || shown === together));
    button.addEventListener("click", () => {
      if (isTrip()) return show(photo);
      $("alone").checked = true;
      if (photo.answer) show(photo);
      else locate(photo);
    });
    button.append(image, ...(isTrip() ? caption(photo) : []));
    item.append(button);
    return item;
  }));
  // Whoever came with the keyboard stays where the photo is.
  if (focused >= 0) $("photos").querySelectorAll("button")[Math.max(0, isTrip() ? list.indexOf(shown) : focused)]?.focus();
  $("sameness").hidden = photos.length < 2;
}

// A photo of the trip: where it was, by all of them.
function showOfTrip(photo) {
  const said = photo.trip;
  say(photo.tripError ?? clocks(trip?.clocks ?? []), Boolean(photo.tripError));
  $("answer").hidden = !said;
  $("legend").hidden = !said;
  if (!said) return;
  $("picture").src = photo.url;
  $("name").textContent = `${photo.name}, ${when(said.time)}`;
  $("place").textContent = said.place;
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
  const line = trip.track.features.find((feature) => feature.properties.track);
  const stops = photos.filter((other) => other.trip).map((other) => [other.trip.best.lon, other.trip.best.lat]);
  globe.setCircle(null);
  globe.showOfTrip(said, line?.geometry.coordinates ?? [], stops);
}

function show(photo) {
  film.close();
  draw(false);
  shown = photo;
  strip();
  if (isTrip()) return showOfTrip(photo);
  say(photo.error ?? "", Boolean(photo.error));
  const answer = photo.answer;
  $("answer").hidden = !answer;
  $("legend").hidden = !answer;
  if (!answer) return;
  $("picture").src = photo.url;
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
  locate(shown);
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
function csv(answer, name) {
  const cell = (value) => `"${String(value).replaceAll('"', '""').replace(/^[=+@\t\r]/, "'$&")}"`;
  const rows = answer.hypotheses.map((place, k) => [cell(name), k + 1, place.lat, place.lon, place.probability, cell(place.place)]);
  return ["photo,rank,lat,lon,probability,place", ...rows.map((row) => row.join(","))].join("\n") + "\n";
}

async function download(format) {
  const photo = shown;
  let blob;
  try {
    if (isTrip()) blob = format === "csv" ? new Blob([tripCsv(photos)], { type: "text/csv" }) : new Blob([JSON.stringify(trip.track)], { type: "application/geo+json" });
    else if (format === "csv") blob = new Blob([csv(photo.answer, photo.name)], { type: "text/csv" });
    else if (format === "geojson") blob = new Blob([JSON.stringify(photo.answer.density)], { type: "application/geo+json" });
    else blob = await (await ask(photo, "locate", { format })).blob();
  } catch (error) {
    say(error.message, true);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = isTrip() ? `trip.${format}` : `${photo.name.replace(/\.[^.]*$/, "")}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(`${link.download} is downloaded`);
}

// ---- events
$("photos").addEventListener("keydown", (event) => {
  if (!isTrip()) return;
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], buttons = [...$("photos").querySelectorAll("button")];
  const next = step && buttons[buttons.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.click();
});
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
$("sameness").addEventListener("change", () => {
  if (isTrip()) locateTrip();
  else if ($("together").checked) locateTogether();
  else if (photos[0].answer) show(photos[0]);
  else locate(photos[0]);
});
$("access").addEventListener("submit", (event) => {
  event.preventDefault();
  key = $("key").value;
  $("access").hidden = true;
  if (isTrip()) locateTrip();
  else for (const photo of photos.filter((photo) => !photo.answer)) locate(photo);
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
