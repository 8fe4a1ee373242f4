"use strict";
// An album on the map of map.js: its photos, alone or in clusters, their track, a slider through time, the radii of the chosen one.
// All text goes in by textContent.
function track(all, map) {
  const { ctx, view, screenX, screenY, worldX, worldY, eachTurn, colour, redraw, flyTo, viewOf, element } = map;
  const $ = (id) => document.getElementById(id);
  const ROW = 56; // pixels of a row of the list
  const xs = all.map((photo) => worldX(photo.lon)), ys = all.map((photo) => worldY(photo.lat));
  const km = (number) => number < 1 ? `${Math.round(number * 1000)} m` : `${number < 10 ? number.toFixed(1) : Math.round(number).toLocaleString("en")} km`;
  const said = (n) => n.toLocaleString("en"), plural = (n) => `${said(n)} photo${n === 1 ? "" : "s"}`;
  const when = (photo) => photo.time.replace("T", " "), name = (photo) => photo.name.replace(/^.*[/\\]/, "");
  const small = pictures(all.map((photo) => photo.picture), redraw);
  const KINDS = {
    tagged: ["With a GPS tag", (photo) => photo.tagged],
    placed: ["Placed by the others", (photo) => !photo.tagged && photo.tell],
    guess: ["I can’t tell", (photo) => !photo.tagged && !photo.tell],
    odd: ["Do not fit", (photo) => photo.outlier],
  };
  const kindOf = (photo) => photo.tagged ? "tagged" : photo.tell ? "placed" : "guess";
  const count = (kind) => all.filter(KINDS[kind][1]).length;

  // ---- the panel: what is there, the chosen photo, the list
  const panel = $("answer");
  panel.classList.add("album");
  const head = element(panel, "h1", "crowd-head");
  const filter = element(panel, "div", "crowd-filter");
  const words = element(filter, "input");
  words.type = "search"; words.placeholder = "Name or place"; words.setAttribute("aria-label", "Name or place");
  const choice = element(filter, "select");
  choice.setAttribute("aria-label", "Which photos");
  element(choice, "option", "", `All ${plural(all.length)}`).value = "";
  for (const [kind, [title]] of Object.entries(KINDS)) if (count(kind)) element(choice, "option", "", `${title} (${said(count(kind))})`).value = kind;
  const here = element(filter, "button", "crowd-here", "Show all photos again");
  here.type = "button"; here.hidden = true;
  const card = element(panel, "section", "crowd-card");
  card.setAttribute("aria-label", "The chosen photo"); card.setAttribute("aria-live", "polite");
  const list = longList(panel, ROW, (button, i) => {
    const photo = all[i], uri = small.uri(i);
    if (uri) { const image = element(button, "img"); image.alt = ""; image.src = uri; }
    const side = element(button, "span", "crowd-words");
    element(side, "b", "", photo.tell ? photo.words : `can’t tell: ${photo.words}`);
    element(side, "small", "", `${when(photo)} · ${name(photo)}`);
    const [mark, meaning] = photo.outlier ? ["!", "does not fit"] : photo.tagged ? ["GPS", "GPS tag"] : photo.tell ? ["", ""] : ["?", "can’t tell"];
    const share = element(button, "span", `share ${kindOf(photo)}`, mark);
    share.title = meaning;
    if (!mark) { element(share, "small", "", "half within"); share.append(km(photo.r50)); }
    if (mark.length === 1) { share.setAttribute("role", "img"); share.setAttribute("aria-label", meaning); }
    if (i === chosen) button.setAttribute("aria-current", "true");
  }, (i) => { stop(); choose(i); flyTo({ size: Math.max(view.size, 3000), x: xs[i], y: ys[i] }); });
  if (!small.any) panel.classList.add("plain");

  let chosen = -1, shown = [], near = null;
  function refilter() {
    const wanted = words.value.trim().toLowerCase(), fits = KINDS[choice.value]?.[1] ?? (() => true);
    const isShown = (photo) => fits(photo) && (!wanted || `${photo.name}\n${photo.words}`.toLowerCase().includes(wanted));
    shown = all.flatMap((photo, i) => (isShown(photo) ? [i] : []));
    relist(null);
    redraw();
  }
  // The list of those of one place, or of all that are shown.
  function relist(photos) {
    near = photos;
    here.hidden = !near;
    const listed = near ?? shown;
    head.textContent = near ? `${plural(near.length)} here` : listed.length === all.length ? plural(all.length) : `${said(listed.length)} of ${plural(all.length)}`;
    list.set(listed);
    list.mark(chosen, false);
  }
  function choose(i) {
    chosen = i;
    const photo = all[i], uri = small.uri(i);
    list.mark(i, true);
    card.replaceChildren();
    const top = element(card, "div", "crowd-top");
    if (uri) { const image = element(top, "img", kindOf(photo)); image.alt = ""; image.src = uri; }
    const side = element(top, "div");
    element(side, "p", "summary", photo.tell ? photo.words : `I can’t tell: ${photo.words}`);
    element(side, "p", "crowd-name", `${name(photo)} · ${when(photo)}`);
    const facts = element(card, "dl");
    const ns = photo.lat < 0 ? "S" : "N", ew = photo.lon < 0 ? "W" : "E";
    const rows = [["best place", `${Math.abs(photo.lat).toFixed(4)}° ${ns}, ${Math.abs(photo.lon).toFixed(4)}° ${ew}`],
      ["half within", km(photo.r50)], ["nine in ten within", km(photo.r90)], ["because", photo.because]];
    if (photo.outlier) rows.push(["does not fit", photo.outlier]);
    for (const [term, value] of rows) { element(facts, "dt", "", term); element(facts, "dd", "", value); }
    $("frame").value = i;
    $("frame").setAttribute("aria-valuetext", `${when(photo)}, ${name(photo)}`);
    $("frame-label").textContent = when(photo);
    redraw();
  }
  // The map follows where the chosen photo is out of sight.
  function follow() {
    const [width, height] = map.size(), x = xs[chosen] + Math.round(view.x - xs[chosen]);
    if (Math.abs(screenX(x) - width / 2) > 0.42 * width || Math.abs(screenY(ys[chosen]) - height / 2) > 0.42 * height) flyTo({ ...view, x: xs[chosen], y: ys[chosen] });
  }

  // ---- the slider through time
  let playing = 0;
  function stop() { clearInterval(playing); playing = 0; $("play").textContent = "▶"; $("play").setAttribute("aria-label", "Play"); }
  $("player").hidden = all.length < 2;
  $("frame").max = Math.max(0, all.length - 1);
  $("frame").setAttribute("aria-label", "Photo in order of time");
  $("frame").oninput = (event) => { stop(); choose(Number(event.target.value)); follow(); };
  $("play").onclick = () => {
    if (playing) { stop(); return; }
    if (chosen >= all.length - 1) choose(0);
    $("play").textContent = "❚❚"; $("play").setAttribute("aria-label", "Pause");
    playing = setInterval(() => { if (chosen >= all.length - 1) stop(); else { choose(chosen + 1); follow(); } }, 400);
  };

  // ---- the map
  const SIDE = 38; // pixels of a photo on the map
  const radius = (n) => (small.any ? SIDE / 2 + 2 : n === 1 ? 6 : Math.min(22, 9 + 3.2 * Math.log2(n)));
  const cluster = clusterer(xs, ys, view, small.any ? 54 : 44, radius);
  function circle(i, radiusKm, style) {
    const pixels = (radiusKm * view.size) / (map.EQUATOR_KM * Math.max(0.05, Math.cos((all[i].lat * Math.PI) / 180)));
    if (!(pixels > 3) || pixels > 20000) return;
    eachTurn(xs[i], xs[i], (turn) => {
      ctx.beginPath(); ctx.arc(screenX(xs[i] + turn), screenY(ys[i]), pixels, 0, 7);
      ctx.strokeStyle = style; ctx.lineWidth = 2; ctx.stroke();
    });
  }
  // The way so far in colour, the rest faint; the short way around the world. Guesses and what does not fit are not on the way.
  function way(accent, soft) {
    let last = -1;
    for (let i = 0; i < all.length; i++) {
      if (all[i].outlier || !all[i].timed || kindOf(all[i]) === "guess") continue;
      if (last >= 0) {
        const x0 = xs[last], x1 = xs[i] + Math.round(x0 - xs[i]), from = last;
        eachTurn(Math.min(x0, x1), Math.max(x0, x1), (turn) => {
          ctx.beginPath(); ctx.moveTo(screenX(x0 + turn), screenY(ys[from])); ctx.lineTo(screenX(x1 + turn), screenY(ys[i]));
          ctx.strokeStyle = i <= chosen ? accent : soft; ctx.globalAlpha = i <= chosen ? 0.9 : 0.35; ctx.lineWidth = 2; ctx.stroke();
          ctx.globalAlpha = 1;
        });
      }
      last = i;
    }
  }
  // A photo or a cluster: its picture with a frame by its kind, and how many they are.
  function pin(x, y, photos, side, isChosen) {
    const i = photos.includes(chosen) ? chosen : photos[photos.length >> 1], n = photos.length;
    const accent = colour("--accent"), truth = colour("--truth"), paper = colour("--paper"), soft = colour("--soft"), text = colour("--text");
    const kinds = photos.map((k) => kindOf(all[k]));
    const kind = kinds.includes("tagged") ? "tagged" : kinds.includes("placed") ? "placed" : "guess";
    const image = small.any ? small.image(i) : null, half = small.any ? side / 2 : isChosen ? 8 : radius(n);
    const outline = (by) => { ctx.beginPath(); if (small.any) ctx.roundRect(x - half - by, y - half - by, 2 * (half + by), 2 * (half + by), 7); else ctx.arc(x, y, half + by, 0, 7); };
    outline(0);
    ctx.fillStyle = small.any || kind === "guess" ? paper : kind === "tagged" ? truth : accent; ctx.fill();
    if (image) {
      ctx.save(); ctx.clip();
      const { naturalWidth: w, naturalHeight: h } = image, least = Math.min(w, h);
      ctx.globalAlpha = kind === "guess" ? 0.6 : 1;
      ctx.drawImage(image, (w - least) / 2, (h - least) / 2, least, least, x - half, y - half, 2 * half, 2 * half);
      ctx.restore();
    }
    if (small.any) { outline(1.5); ctx.lineWidth = 3; ctx.strokeStyle = kind === "guess" ? soft : paper; ctx.setLineDash(kind === "guess" ? [4, 3] : []); ctx.stroke(); ctx.setLineDash([]); }
    outline(small.any ? 3 : 0);
    ctx.lineWidth = isChosen ? 3 : 1.5;
    ctx.strokeStyle = isChosen ? text : photos.some((k) => all[k].outlier) ? text : kind === "tagged" ? truth : kind === "placed" ? accent : soft;
    if (kind === "guess" && !isChosen) ctx.setLineDash([3, 3]);
    ctx.stroke(); ctx.setLineDash([]);
    const badge = n > 1 ? said(n) : kind === "guess" ? "?" : kind === "tagged" ? "•" : "";
    if (!badge || (!small.any && badge === "•")) return;
    ctx.font = "600 12px system-ui, sans-serif"; ctx.textAlign = "center"; ctx.textBaseline = "middle";
    const wide = Math.max(18, ctx.measureText(badge).width + 10), [bx, by] = small.any ? [x + half - 1, y - half + 1] : [x, y];
    if (small.any) { ctx.beginPath(); ctx.roundRect(bx - wide / 2, by - 9, wide, 18, 9); ctx.fillStyle = kind === "tagged" ? truth : kind === "placed" ? accent : soft; ctx.fill(); }
    ctx.fillStyle = small.any || kind !== "guess" ? paper : text;
    ctx.fillText(badge, bx, by + 0.5);
  }
  function draw() {
    const [width, height] = map.size();
    way(colour("--accent"), colour("--soft"));
    for (const one of cluster(shown)) {
      const y = screenY(one.y);
      if (y < -SIDE || y > height + SIDE) continue;
      eachTurn(one.x - SIDE / view.size, one.x + SIDE / view.size, (turn) => {
        const x = screenX(one.x + turn);
        if (x > -SIDE && x < width + SIDE) pin(x, y, one.photos, SIDE, false);
      });
    }
    if (chosen < 0) return;
    circle(chosen, all[chosen].r90, colour("--outline-1"));
    circle(chosen, all[chosen].r50, colour("--outline-0"));
    eachTurn(xs[chosen], xs[chosen], (turn) => pin(screenX(xs[chosen] + turn), screenY(ys[chosen]), [chosen], 1.6 * SIDE, true));
  }
  function tap(px, py) {
    let hit = null;
    for (const one of cluster(shown)) eachTurn(one.x, one.x, (turn) => {
      const away = Math.hypot(screenX(one.x + turn) - px, screenY(one.y) - py);
      if (away < radius(one.photos.length) + 5) hit = one; // the largest last
    });
    if (!hit) return;
    stop();
    if (hit.photos.length === 1) { choose(hit.photos[0]); $("panel").scrollTop = 0; return; }
    relist([...hit.photos].sort((a, b) => a - b)); // what lies there, to look through
    const target = viewOf(hit.photos.map((i) => [xs[i], ys[i]]), hit.x);
    if (target.size > view.size * 1.2) flyTo(target);
  }
  // What the frames mean.
  const legend = $("legend");
  for (const kind of ["tagged", "placed", "guess"]) if (count(kind)) {
    const row = element(legend, "div");
    element(row, "i", `frame ${kind}`, kind === "guess" ? "?" : "");
    element(row, "span", "", `${KINDS[kind][0]}: ${said(count(kind))}`);
  }
  for (const [sign, words] of [["half", "circle: half within"], ["most", "circle: nine in ten within"]]) {
    const row = element(legend, "div");
    element(row, "i", sign); element(row, "span", "", words);
  }
  let waiting = 0;
  words.oninput = () => { clearTimeout(waiting); waiting = setTimeout(refilter, 60); };
  choice.onchange = refilter;
  here.onclick = () => { relist(null); words.focus(); };
  if (all.length) choose(0);
  refilter();
  return { draw, tap, points: () => shown.map((i) => [xs[i], ys[i]]), start: redraw };
}
