"use strict";
// Many photos on the map of map.js: clusters, a list with small pictures, a filter. All text goes in by textContent.
function crowd(all, map) {
  const { ctx, view, screenX, screenY, worldX, worldY, eachTurn, colour, redraw, flyTo, viewOf, element, percent } = map;
  const CELL = 44; // pixels within which photos are one cluster
  const ROWS = 60; // photos listed at once; more come as one scrolls
  const count = all.name.length;
  const xs = Float64Array.from(all.lon, worldX), ys = Float64Array.from(all.lat, worldY);
  const { uri: picture } = pictures(all.picture, redraw);
  const plural = (n) => `${n.toLocaleString("en")} photo${n === 1 ? "" : "s"}`;
  const km = (number) => { const step = number >= 1000 ? 100 : number >= 100 ? 10 : 1; return `${(Math.round(number / step) * step).toLocaleString("en")} km`; };

  // ---- the panel: a filter, the chosen photo, the list
  const panel = document.getElementById("answer");
  const head = element(panel, "h1", "crowd-head");
  const filter = element(panel, "div", "crowd-filter");
  const words = element(filter, "input");
  words.type = "search"; words.placeholder = "Name or place"; words.setAttribute("aria-label", "Name or place");
  const range = element(filter, "label");
  const told = element(range, "span", "", "Surer than 0 %");
  const least = element(range, "input");
  least.type = "range"; least.min = 0; least.max = 100; least.value = 0;
  const unsure = element(filter, "label", "crowd-check");
  const box = element(unsure, "input");
  box.type = "checkbox"; box.checked = true;
  const silent = all.tell.filter((can) => !can).length, tagged = all.tag.filter((is) => is).length;
  const number = (n) => n.toLocaleString("en");
  const kinds = `${number(count - silent - tagged)} answered, ${number(silent)} can't tell, ${number(tagged)} already tagged`;
  head.after(element(panel, "p", "crowd-name", kinds));
  element(unsure, "span", "", `show guesses, where it can't tell (${silent.toLocaleString("en")})`);
  const card = element(panel, "section", "crowd-card");
  const list = element(panel, "ol", "crowd-list");
  const more = element(panel, "p", "crowd-more");

  let shown = [], listed = [], chosen = -1, rows = 0;
  function refilter() {
    const wanted = words.value.trim().toLowerCase(), share = Number(least.value) / 100;
    told.textContent = `Surer than ${least.value} %`;
    shown = [];
    for (let i = 0; i < count; i++) {
      if (all.sure[i] < share || (!box.checked && !all.tell[i])) continue;
      if (wanted && !`${all.name[i]}\n${all.words[i]}`.toLowerCase().includes(wanted)) continue;
      shown.push(i);
    }
    head.textContent = shown.length === count ? plural(count) : `${shown.length.toLocaleString("en")} of ${plural(count)}`;
    if (chosen >= 0 && !shown.includes(chosen)) choose(-1);
    relist(shown);
    redraw();
  }
  function relist(photos) { listed = photos; rows = 0; list.replaceChildren(); addRows(); }
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) {
      watcher.unobserve(entry.target);
      const uri = picture(Number(entry.target.dataset.photo));
      if (uri) entry.target.src = uri; else entry.target.remove();
    }
  }, { rootMargin: "200px" });
  function addRows() {
    const end = Math.min(listed.length, rows + ROWS);
    for (; rows < end; rows++) {
      const i = listed[rows], button = element(element(list, "li"), "button");
      const image = element(button, "img");
      image.alt = ""; image.dataset.photo = i; watcher.observe(image);
      const side = element(button, "span", "crowd-words");
      element(side, "b", "", all.words[i]);
      element(side, "small", "", all.name[i]);
      const share = element(button, "span", all.tag[i] ? "share tagged" : all.tell[i] ? "share" : "share soft", all.tag[i] ? "GPS" : "");
      if (!all.tag[i]) { element(share, "small", "", "half within"); share.append(km(all.r50[i])); }
      button.onclick = () => choose(i, true);
    }
    more.hidden = rows >= listed.length;
    more.textContent = `and ${(listed.length - rows).toLocaleString("en")} more`;
  }
  new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting) && rows < listed.length) addRows(); },
    { rootMargin: "600px" }).observe(more);
  let seen = null; // the view of the chosen photo's density, if the page has it
  function choose(i, fly) {
    chosen = i;
    seen = map.detail(i);
    card.replaceChildren();
    if (i >= 0) {
      const uri = picture(i);
      if (uri) { const image = element(card, "img"); image.alt = ""; image.src = uri; }
      element(card, "p", "summary", all.tell[i] ? all.words[i] : `I can’t tell: ${all.words[i]}`);
      element(card, "p", "crowd-name", all.name[i]);
      const facts = element(card, "dl");
      const ns = all.lat[i] < 0 ? "S" : "N", ew = all.lon[i] < 0 ? "W" : "E";
      const at = `${Math.abs(all.lat[i]).toFixed(3)}° ${ns}, ${Math.abs(all.lon[i]).toFixed(3)}° ${ew}`;
      for (const [name, value] of all.tag[i] ? [["GPS tag", at]] : [["best place", at],
        ["half within", km(all.r50[i])], ["nine in ten within", km(all.r90[i])], ["right to 750 km", percent(all.sure[i])],
      ]) { element(facts, "dt", "", name); element(facts, "dd", "", value); }
      document.getElementById("panel").scrollTop = 0;
      if (fly) flyTo(seen ?? { size: Math.max(view.size, 3000), x: xs[i], y: ys[i] });
    }
    redraw();
  }

  // ---- the map
  const radius = (n) => {
    const most = Math.max(17, Math.min(30, map.size()[0] / 22));
    return n === 1 ? 6 : Math.min(most, 9 + 3.2 * Math.log2(n));
  };
  const cluster = clusterer(xs, ys, view, CELL, radius);
  function circle(i, radiusKm, style) {
    // A circle on the globe is wider on the map where the map is.
    const pixels = (radiusKm * view.size) / (map.EQUATOR_KM * Math.max(0.05, Math.cos((all.lat[i] * Math.PI) / 180)));
    if (!(pixels > 3) || pixels > 20000) return;
    eachTurn(xs[i], xs[i], (turn) => {
      ctx.beginPath(); ctx.arc(screenX(xs[i] + turn), screenY(ys[i]), pixels, 0, 7);
      ctx.strokeStyle = style; ctx.lineWidth = 2; ctx.stroke();
    });
  }
  function draw() {
    const [width, height] = map.size();
    const accent = colour("--accent"), paper = colour("--paper"), soft = colour("--soft");
    ctx.textAlign = "center"; ctx.textBaseline = "middle";
    for (const one of cluster(shown)) {
      const n = one.photos.length, r = radius(n), y = screenY(one.y);
      if (y < -r || y > height + r) continue;
      eachTurn(one.x, one.x, (turn) => {
        const x = screenX(one.x + turn);
        if (x < -r || x > width + r) return;
        ctx.beginPath(); ctx.arc(x, y, r, 0, 7);
        const isGuess = one.photos.every((i) => !all.tell[i]);
        ctx.globalAlpha = seen ? 0.3 : 0.55 + 0.4 * (one.sure ??= one.photos.reduce((sum, i) => sum + all.sure[i], 0) / n);
        ctx.fillStyle = isGuess ? paper : one.photos.every((i) => all.tag[i]) ? colour("--truth") : accent; ctx.fill();
        ctx.globalAlpha = seen ? 0.3 : 1;
        ctx.lineWidth = 1.5; ctx.strokeStyle = isGuess ? soft : paper; ctx.stroke();
        if (n > 1 && !seen) {
          ctx.fillStyle = isGuess ? soft : "#fff"; ctx.font = `600 ${n > 999 ? 11 : 12}px system-ui, sans-serif`;
          ctx.fillText(n.toLocaleString("en"), x, y + 0.5);
        }
        ctx.globalAlpha = 1;
      });
    }
    if (chosen >= 0) {
      if (!seen) { circle(chosen, all.r90[chosen], colour("--outline-1")); circle(chosen, all.r50[chosen], colour("--outline-0")); }
      if (!seen || all.tag[chosen]) eachTurn(xs[chosen], xs[chosen], (turn) => {
        ctx.beginPath(); ctx.arc(screenX(xs[chosen] + turn), screenY(ys[chosen]), 8, 0, 7);
        ctx.fillStyle = all.tag[chosen] ? colour("--truth") : accent; ctx.fill(); ctx.lineWidth = 3; ctx.strokeStyle = colour("--text"); ctx.stroke();
      });
    }
  }
  function tap(px, py) {
    let hit = null;
    for (const one of cluster(shown)) eachTurn(one.x, one.x, (turn) => {
      const away = Math.hypot(screenX(one.x + turn) - px, screenY(one.y) - py);
      if (away < radius(one.photos.length) + 5) hit = one; // the largest last
    });
    if (!hit) { choose(-1); relist(shown); return; }
    if (hit.photos.length === 1) { choose(hit.photos[0]); return; }
    choose(-1);
    relist(hit.photos); // what lies there, to look through
    const points = hit.photos.map((i) => [xs[i], ys[i]]);
    const target = viewOf(points, hit.x);
    if (target.size > view.size * 1.2) flyTo(target);
  }
  // What the signs mean; the circles are drawn where there is no density.
  const signs = (isBare) => [["disc", "photos placed"], ...(silent ? [["disc guess", "a guess: can’t tell"]] : []), ...(tagged ? [["disc tagged", "GPS tag"]] : []),
    ...(chosen >= 0 && isBare && !all.tag[chosen] ? [["half", "circle: half within"], ["most", "circle: nine in ten within"]] : [])];
  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(refilter, 60); };
  words.oninput = soon; least.oninput = soon; box.onchange = refilter;
  refilter();
  return { draw, tap, signs, points: () => shown.map((i) => [xs[i], ys[i]]), start: () => map.detail(-1) };
}
