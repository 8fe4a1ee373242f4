// What both pages have: words for numbers, others' words made harmless, rows of places, the map's buttons, light and dark.

export const percent = (share) => (share < 0.005 ? "< 1\u00a0%" : share > 0.995 ? "> 99\u00a0%" : `${Math.round(100 * share)}\u00a0%`);
export const degrees = ({ lat, lon }) => `${Math.abs(lat).toFixed(3)}° ${lat < 0 ? "S" : "N"}, ${Math.abs(lon).toFixed(3)}° ${lon < 0 ? "W" : "E"}`;

// "+1.80", "−0.25".
export function signed(value, digits) {
  const size = Math.abs(value).toFixed(digits);
  return `${value < 0 && Number(size) ? "−" : "+"}${size}`;
}

// Words that others wrote, such as text in a photo or in its tags, as one short line: nothing in it controls or turns what stands around it.
export function plain(words, most = 160) {
  const line = String(words ?? "").replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").replace(/(?![\u200c\u200d])[\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu, "").replace(/(\p{M}{4})\p{M}+/gu, "$1").trim();
  const letters = Array.from(line);
  return letters.length > most ? `${letters.slice(0, most).join("")}…` : line;
}

export function text(tag, words, name = "") {
  const element = document.createElement(tag);
  element.textContent = words;
  element.className = name;
  return element;
}

// A row for a place that a photo may be from; choosing it turns the globe there, unless something else is meant.
export const hypothesisFor = (globe, choose = (place) => globe.turnTo([place.lon, place.lat])) => (place, k) => {
  const item = document.createElement("li"), button = document.createElement("button"), bar = text("span", "", "bar"), part = text("span", "");
  part.style.width = `${100 * place.probability}%`;
  bar.append(part);
  button.type = "button";
  button.append(text("span", String(k + 1), "rank"), text("span", place.place), text("span", percent(place.probability), "share"), bar);
  button.addEventListener("click", () => choose(place, k));
  item.append(button);
  return item;
};

// The buttons beside the globe, and those for light and dark.
export function furnish(globe) {
  const $ = (id) => document.getElementById(id);
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
}
