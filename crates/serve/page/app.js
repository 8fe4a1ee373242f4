// Photos in, answers out: everything but the globe.
import { Globe } from "/page/globe.js";

const $ = (id) => document.getElementById(id);
const globe = new Globe($("globe"));
const photos = [];
let shown = null, key = "";

// ---- words
const km = (value) => {
  const step = value >= 1000 ? 100 : value >= 100 ? 10 : 1;
  return `${(Math.round(value / step) * step).toLocaleString("en")} km`;
};
const percent = (share) => (share < 0.005 ? "< 1 %" : share > 0.995 ? "> 99 %" : `${Math.round(100 * share)} %`);
const degrees = ({ lat, lon }) => `${Math.abs(lat).toFixed(3)}° ${lat < 0 ? "S" : "N"}, ${Math.abs(lon).toFixed(3)}° ${lon < 0 ? "W" : "E"}`;

function say(text, isWrong = false) {
  $("status").textContent = text;
  $("status").classList.toggle("wrong", isWrong);
}

// ---- the server
async function ask(photo, parameters) {
  const query = new URLSearchParams({ name: photo.name, ...parameters });
  if (photo.within) query.append("within", photo.within);
  const headers = { "content-type": photo.file.type.startsWith("image/") ? photo.file.type : "application/octet-stream" };
  if (key) headers["x-api-key"] = key;
  const response = await fetch(`/v1/locate?${query}`, { method: "POST", headers, body: photo.file });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({ detail: `the server said ${response.status}` }));
  const wait = response.status === 429 && Number(response.headers.get("retry-after"));
  if (response.status === 401) {
    $("access").hidden = false;
    $("key").focus();
  }
  throw Object.assign(new Error(problem.detail), { wait });
}

async function locate(photo) {
  say(`Looking at ${photo.name} …`);
  for (;;) {
    try {
      photo.answer = await (await ask(photo, { density: "geojson" })).json();
      photo.error = null;
      break;
    } catch (error) {
      if (!error.wait) {
        photo.error = error.message;
        break;
      }
      say(`The server is busy: again in ${error.wait} s`);
      await new Promise((done) => setTimeout(done, 1000 * error.wait));
    }
  }
  show(photo);
}

async function add(files) {
  const added = [...files].map((file, k) => ({ file, name: file.name || `pasted ${photos.length + k + 1}`, url: URL.createObjectURL(file) }));
  photos.push(...added);
  strip();
  for (const photo of added) await locate(photo);
}

// ---- the panel
function strip() {
  $("photos").replaceChildren(...photos.map((photo) => {
    const item = document.createElement("li"), button = document.createElement("button"), image = document.createElement("img");
    image.src = photo.url;
    image.alt = photo.name;
    button.type = "button";
    button.setAttribute("aria-current", String(photo === shown));
    button.addEventListener("click", () => show(photo));
    button.append(image);
    item.append(button);
    return item;
  }));
}

function show(photo) {
  shown = photo;
  strip();
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
  $("hypotheses").replaceChildren(...answer.hypotheses.map(hypothesis));
  const facts = [["best place", degrees(answer.best)], ["50 % region", `${Math.round(answer.area_50_km2).toLocaleString("en")} km²`],
    ["90 % region", `${Math.round(answer.area_90_km2).toLocaleString("en")} km²`]];
  if (answer.gps) facts.push(["the photo’s GPS tag (not used)", degrees(answer.gps)]);
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [text("dt", name), text("dd", value)]));
  $("globe").setAttribute("aria-label", `A globe turned to ${answer.place}. Arrow keys turn it, plus and minus zoom.`);
  globe.show(answer);
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
    if (format === "csv") blob = new Blob([csv(photo.answer, photo.name)], { type: "text/csv" });
    else if (format === "geojson") blob = new Blob([JSON.stringify(photo.answer.density)], { type: "application/geo+json" });
    else blob = await (await ask(photo, { format })).blob();
  } catch (error) {
    say(error.message, true);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${photo.name.replace(/\.[^.]*$/, "")}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(`${link.download} is downloaded`);
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
  shown.within = $("within").value.trim();
  locate(shown);
});
$("access").addEventListener("submit", (event) => {
  event.preventDefault();
  key = $("key").value;
  $("access").hidden = true;
  for (const photo of photos.filter((photo) => !photo.answer)) locate(photo);
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
