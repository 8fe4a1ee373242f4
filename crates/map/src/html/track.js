"use strict";
// An album on the map of map.js: its track, a slider through time, the radii of the chosen photo. All text goes in by textContent.
function track(all, map) {
  const { ctx, view, screenX, screenY, worldX, worldY, eachTurn, colour, redraw, flyTo, viewOf, element } = map;
  const $ = (id) => document.getElementById(id);
  const xs = all.map((photo) => worldX(photo.lon)), ys = all.map((photo) => worldY(photo.lat));
  const km = (number) => number < 1 ? `${Math.round(number * 1000)} m` : `${number < 10 ? number.toFixed(1) : Math.round(number).toLocaleString("en")} km`;
  const panel = $("answer");
  $("photos").hidden = $("legend").hidden = true;
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const odd = all.filter((photo) => photo.outlier).length, tagged = all.filter((photo) => photo.tagged).length;
  element(panel, "h1", "crowd-head", `${plural(all.length, "photo")}, ${tagged} with GPS${odd ? `, ${odd} that do not fit` : ""}`);
  const card = element(panel, "section", "crowd-card");
  const list = element(panel, "ol", "crowd-list plain");
  let chosen = 0;
  const buttons = all.map((photo, i) => {
    const button = element(element(list, "li"), "button");
    const side = element(button, "span", "crowd-words");
    element(side, "b", "", photo.words);
    element(side, "small", "", `${photo.time} · ${photo.name}`);
    element(button, "span", photo.outlier ? "share" : "share soft", photo.outlier ? "!" : photo.tagged ? "GPS" : km(photo.r50));
    button.onclick = () => { stop(); choose(i); flyTo({ size: Math.max(view.size, 3000), x: xs[i], y: ys[i] }); };
    return button;
  });
  function choose(i) {
    buttons[chosen]?.removeAttribute("aria-current");
    chosen = i;
    const photo = all[i];
    buttons[i].setAttribute("aria-current", "true");
    card.replaceChildren();
    element(card, "p", "summary", photo.words);
    element(card, "p", "crowd-name", photo.name);
    const facts = element(card, "dl");
    const ns = photo.lat < 0 ? "S" : "N", ew = photo.lon < 0 ? "W" : "E";
    const rows = [["time", photo.time], ["best place", `${Math.abs(photo.lat).toFixed(4)}° ${ns}, ${Math.abs(photo.lon).toFixed(4)}° ${ew}`],
      ["50 % within", km(photo.r50)], ["90 % within", km(photo.r90)], ["because", photo.because]];
    if (photo.outlier) rows.push(["does not fit", photo.outlier]);
    for (const [name, value] of rows) { element(facts, "dt", "", name); element(facts, "dd", "", value); }
    $("frame").value = i;
    $("frame-label").textContent = photo.time;
    redraw();
  }

  // ---- the slider through time
  let playing = 0;
  function stop() { clearInterval(playing); playing = 0; $("play").textContent = "▶"; $("play").setAttribute("aria-label", "Play"); }
  $("player").hidden = all.length < 2;
  $("frame").max = Math.max(0, all.length - 1);
  $("frame").setAttribute("aria-label", "Photo in order of time");
  $("frame").oninput = (event) => { stop(); choose(Number(event.target.value)); };
  $("play").onclick = () => {
    if (playing) { stop(); return; }
    if (chosen >= all.length - 1) choose(0);
    $("play").textContent = "❚❚"; $("play").setAttribute("aria-label", "Pause");
    playing = setInterval(() => { if (chosen >= all.length - 1) stop(); else choose(chosen + 1); }, 400);
  };

  // ---- the map
  function circle(i, radiusKm, style) {
    const pixels = (radiusKm * view.size) / (map.EQUATOR_KM * Math.max(0.05, Math.cos((all[i].lat * Math.PI) / 180)));
    if (!(pixels > 3) || pixels > 20000) return;
    eachTurn(xs[i], xs[i], (turn) => {
      ctx.beginPath(); ctx.arc(screenX(xs[i] + turn), screenY(ys[i]), pixels, 0, 7);
      ctx.strokeStyle = style; ctx.lineWidth = 2; ctx.stroke();
    });
  }
  function draw() {
    const accent = colour("--accent"), paper = colour("--paper"), soft = colour("--soft"), text = colour("--text");
    // The way so far in colour, the rest faint; the short way around the world. What does not fit is not on the way.
    let last = -1;
    for (let i = 0; i < all.length; i++) {
      if (all[i].outlier) continue;
      if (last >= 0) {
        const x0 = xs[last], x1 = xs[i] + Math.round(x0 - xs[i]);
        eachTurn(Math.min(x0, x1), Math.max(x0, x1), (turn) => {
          ctx.beginPath(); ctx.moveTo(screenX(x0 + turn), screenY(ys[last])); ctx.lineTo(screenX(x1 + turn), screenY(ys[i]));
          ctx.strokeStyle = i <= chosen ? accent : soft; ctx.globalAlpha = i <= chosen ? 0.9 : 0.35; ctx.lineWidth = 2; ctx.stroke();
          ctx.globalAlpha = 1;
        });
      }
      last = i;
    }
    for (let i = 0; i < all.length; i++) eachTurn(xs[i], xs[i], (turn) => {
      const x = screenX(xs[i] + turn), y = screenY(ys[i]);
      ctx.beginPath(); ctx.arc(x, y, 4.5, 0, 7);
      ctx.fillStyle = all[i].tagged ? accent : paper; ctx.globalAlpha = i <= chosen ? 1 : 0.5; ctx.fill();
      ctx.lineWidth = 1.8; ctx.strokeStyle = all[i].outlier ? text : accent; ctx.stroke(); ctx.globalAlpha = 1;
    });
    if (!all.length) return;
    circle(chosen, all[chosen].r90, colour("--outline-1"));
    circle(chosen, all[chosen].r50, colour("--outline-0"));
    eachTurn(xs[chosen], xs[chosen], (turn) => {
      ctx.beginPath(); ctx.arc(screenX(xs[chosen] + turn), screenY(ys[chosen]), 8, 0, 7);
      ctx.fillStyle = accent; ctx.fill(); ctx.lineWidth = 3; ctx.strokeStyle = text; ctx.stroke();
    });
  }
  function tap(px, py) {
    let hit = -1, nearest = 14;
    for (let i = 0; i < all.length; i++) eachTurn(xs[i], xs[i], (turn) => {
      const away = Math.hypot(screenX(xs[i] + turn) - px, screenY(ys[i]) - py);
      if (away < nearest) { nearest = away; hit = i; }
    });
    if (hit >= 0) { stop(); choose(hit); }
  }
  if (all.length) choose(0);
  return { draw, tap, points: () => xs.map((x, i) => [x, ys[i]]), start: redraw };
}
