"use strict";
// One page, no network: everything comes from the <script> elements above. All text goes in by textContent.
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const canvas = $("map"), ctx = canvas.getContext("2d");
  const MAX_LAT = 85.0511287798;
  const EQUATOR_KM = 40030.2; // of a sphere of Earth's mean radius
  const COARSE_BELOW = 900; // pixels around the world
  const SMALLEST = 160, LARGEST = 256 * 2 ** 11;

  // The world is 1 × 1 in Mercator's projection: x grows eastwards from −180°, y southwards from 85° N.
  const worldX = (lon) => lon / 360 + 0.5;
  const worldY = (lat) => {
    const clamped = Math.max(-MAX_LAT, Math.min(MAX_LAT, lat));
    return 0.5 - Math.log(Math.tan(Math.PI / 4 + (clamped * Math.PI) / 360)) / (2 * Math.PI);
  };
  const latitude = (y) => (360 / Math.PI) * Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) - 90;

  // ---- lines: a path with the box around it, so that what is out of sight is not drawn
  const emptyShape = () => ({ path: new Path2D(), x0: 9, x1: -9, y0: 9, y1: -9 });
  function shapeOf(points, closed) {
    const shape = emptyShape();
    for (let i = 0; i < points.length; i += 2) {
      const x = worldX(points[i]), y = worldY(points[i + 1]);
      if (i) shape.path.lineTo(x, y); else shape.path.moveTo(x, y);
      shape.x0 = Math.min(shape.x0, x); shape.x1 = Math.max(shape.x1, x);
      shape.y0 = Math.min(shape.y0, y); shape.y1 = Math.max(shape.y1, y);
    }
    if (closed) shape.path.closePath();
    return shape;
  }

  // ---- coastlines: the layout of scripts/map_coastline.py
  function unpackCoast(id) {
    const text = atob($(id).textContent);
    let at = 0;
    const number = () => {
      let value = 0, scale = 1, byte;
      do { byte = text.charCodeAt(at++); value += (byte & 127) * scale; scale *= 128; } while (byte > 127);
      return value;
    };
    const delta = () => { const value = number(); return value % 2 ? -(value + 1) / 2 : value / 2; };
    const points = (count) => {
      const list = new Float64Array(2 * count);
      for (let i = 0, x = 0, y = 0; i < count; i++) {
        list[2 * i] = (x += delta()) / 500; list[2 * i + 1] = (y += delta()) / 500;
      }
      return list;
    };
    const coast = { land: [], holes: [], borders: [] };
    for (let rings = number(); rings > 0; rings--) {
      const head = number();
      (head % 2 ? coast.holes : coast.land).push(shapeOf(points(Math.floor(head / 2)), true));
    }
    for (let lines = number(); lines > 0; lines--) coast.borders.push(shapeOf(points(number()), false));
    return coast;
  }
  const coasts = {};
  const coastFor = (size) => {
    const id = size < COARSE_BELOW ? "coast-coarse" : "coast-fine";
    return (coasts[id] ??= unpackCoast(id));
  };

  // ---- the view: the world's size in pixels, and the point in the middle
  const view = { size: 512, x: 0.5, y: 0.5 };
  let width = 1, height = 1, ratio = 1, wanted = false;
  const screenX = (x) => width / 2 + (x - view.x) * view.size;
  const screenY = (y) => height / 2 + (y - view.y) * view.size;
  const redraw = () => { if (!wanted) { wanted = true; requestAnimationFrame(draw); } };
  function settle() {
    view.size = Math.max(Math.max(SMALLEST, Math.min(height, width)), Math.min(LARGEST, view.size));
    const half = Math.min(0.5, height / 2 / view.size);
    view.y = Math.max(half, Math.min(1 - half, view.y));
    view.x -= Math.floor(view.x);
    redraw();
  }
  function zoom(factor, px = width / 2, py = height / 2) {
    const before = view.size;
    const x = view.x + (px - width / 2) / before, y = view.y + (py - height / 2) / before;
    view.size *= factor;
    settle();
    view.x = x - (px - width / 2) / view.size;
    view.y = y - (py - height / 2) / view.size;
    settle();
  }
  function pan(dx, dy) { view.x -= dx / view.size; view.y -= dy / view.size; settle(); }
  let flight = 0;
  function flyTo(target) {
    cancelAnimationFrame(flight);
    const from = { ...view };
    const turn = target.x - from.x - Math.round(target.x - from.x);
    const begin = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = (now) => {
      const t = still ? 1 : Math.min(1, (now - begin) / 450), ease = t * t * (3 - 2 * t);
      view.size = from.size * (target.size / from.size) ** ease;
      view.x = from.x + turn * ease; view.y = from.y + (target.y - from.y) * ease;
      settle();
      if (t < 1) flight = requestAnimationFrame(step);
    };
    flight = requestAnimationFrame(step);
  }
  const worldView = () => ({ size: Math.max(width, height * 0.9), x: view.x, y: 0.42 });
  // What the answer covers: all of its outlines where they are not everywhere, and the markers.
  function answerView(all = true) {
    if (layer && all) return viewOf(layer.points(), undefined);
    const points = [];
    for (const outline of photo.outlines) for (const line of outline.lines)
      for (let i = 0; i < line.length; i += 2) points.push([worldX(line[i]), worldY(line[i + 1])]);
    for (const marker of photo.markers) points.push([worldX(marker.lon), worldY(marker.lat)]);
    // A single point covers nothing: a film of the world begins in the world.
    if (points.length < 2) return worldView();
    return viewOf(points, photo.markers.length ? worldX(photo.markers[0].lon) : undefined);
  }
  // The view that holds all points, the shorter way around the world as seen from a centre.
  function viewOf(points, middle) {
    if (!points.length) return worldView();
    const centre = middle ?? points[0][0];
    let x0 = 9, x1 = -9, y0 = 9, y1 = -9;
    for (const [x, y] of points) {
      const near = x - Math.round(x - centre);
      x0 = Math.min(x0, near); x1 = Math.max(x1, near); y0 = Math.min(y0, y); y1 = Math.max(y1, y);
    }
    if (x1 - x0 > 0.7) return worldView();
    const room = 0.72; // the rest is margin
    const size = Math.min((room * width) / Math.max(x1 - x0, 1e-4), (room * height) / Math.max(y1 - y0, 1e-4), 24000);
    return { size, x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  }

  // ---- drawing
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  function eachTurn(x0, x1, action) {
    const left = view.x - width / 2 / view.size, right = view.x + width / 2 / view.size;
    for (let turn = Math.ceil(left - x1); turn <= Math.floor(right - x0); turn++) action(turn);
  }
  function shapes(list, paint) {
    const top = view.y - height / 2 / view.size, bottom = view.y + height / 2 / view.size;
    for (const shape of list) {
      if (shape.y1 < top || shape.y0 > bottom) continue;
      eachTurn(shape.x0, shape.x1, (turn) => {
        const scale = ratio * view.size;
        ctx.setTransform(scale, 0, 0, scale, ratio * screenX(turn), ratio * screenY(0));
        paint(shape.path);
      });
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  }
  const stroke = (list, style, pixels) => {
    ctx.strokeStyle = style; ctx.lineWidth = pixels / view.size; ctx.lineJoin = "round";
    shapes(list, (path) => ctx.stroke(path));
  };
  function grid() {
    const perPixel = 360 / view.size;
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30].find((s) => s / perPixel > 110) ?? 30;
    ctx.strokeStyle = colour("--grid"); ctx.lineWidth = 1; ctx.beginPath();
    const west = (view.x - width / 2 / view.size - 0.5) * 360, east = (view.x + width / 2 / view.size - 0.5) * 360;
    for (let lon = Math.ceil(west / step) * step; lon <= east; lon += step) {
      const x = Math.round(screenX(worldX(lon))) + 0.5;
      ctx.moveTo(x, Math.max(0, screenY(0))); ctx.lineTo(x, Math.min(height, screenY(1)));
    }
    const south = Math.max(-80, latitude(view.y + height / 2 / view.size)), north = Math.min(80, latitude(view.y - height / 2 / view.size));
    for (let lat = Math.ceil(south / step) * step; lat <= north; lat += step) {
      const y = Math.round(screenY(worldY(lat))) + 0.5;
      ctx.moveTo(0, y); ctx.lineTo(width, y);
    }
    ctx.stroke();
  }
  function heatLayer() {
    const heat = photo.heat;
    if (!heat) return;
    if (!heat.image) {
      heat.image = new Image();
      heat.image.onload = redraw;
      heat.image.src = heat.uri;
    }
    if (!heat.image.complete || !heat.image.naturalWidth) return;
    ctx.imageSmoothingEnabled = true; ctx.imageSmoothingQuality = "high";
    eachTurn(heat.x0, heat.x1, (turn) => ctx.drawImage(heat.image, screenX(heat.x0 + turn), screenY(heat.y0),
      (heat.x1 - heat.x0) * view.size, (heat.y1 - heat.y0) * view.size));
  }
  function labels(taken) {
    const level = Math.log2(view.size / 256);
    ctx.textAlign = "center"; ctx.textBaseline = "middle"; ctx.lineJoin = "round";
    ctx.strokeStyle = colour("--halo"); ctx.lineWidth = 3;
    for (const [lon, lat, text, least, isTown] of data.labels) {
      if (level < least) continue;
      ctx.font = isTown ? "12px system-ui, sans-serif" : "600 12px system-ui, sans-serif";
      ctx.fillStyle = colour(isTown ? "--town" : "--country");
      const half = ctx.measureText(text).width / 2 + 3, y = screenY(worldY(lat)) - (isTown ? 10 : 0), at = worldX(lon);
      eachTurn(at, at, (turn) => {
        const x = screenX(at + turn);
        const box = [x - half, y - 8, x + half, y + 8];
        if (taken.some((b) => b[0] < box[2] && b[2] > box[0] && b[1] < box[3] && b[3] > box[1])) return;
        taken.push(box);
        ctx.strokeText(text, x, y); ctx.fillText(text, x, y);
        if (isTown) { ctx.beginPath(); ctx.arc(x, y + 10, 2, 0, 7); ctx.fill(); }
      });
    }
  }
  // Pins whose tip is the place; the first is drawn last, on top.
  const PIN = 13, TIP = 30;
  const pins = () => photo.markers.flatMap((marker, index) => {
    const list = [], at = worldX(marker.lon);
    eachTurn(at, at, (turn) => list.push({ index, marker, x: screenX(at + turn), y: screenY(worldY(marker.lat)) }));
    return list;
  });
  function drawPins(list) {
    for (const { index, marker, x, y } of [...list].reverse()) {
      const top = y - TIP + PIN;
      ctx.beginPath(); ctx.moveTo(x, y);
      ctx.arc(x, top, PIN, Math.PI * 0.83, Math.PI * 2.17); ctx.closePath();
      ctx.fillStyle = colour(marker.is_truth ? "--truth" : "--accent"); ctx.fill();
      ctx.strokeStyle = index === selected ? colour("--text") : "#fff"; ctx.lineWidth = index === selected ? 3 : 1.5; ctx.stroke();
      ctx.fillStyle = colour("--paper"); ctx.font = "700 13px system-ui, sans-serif";
      ctx.textAlign = "center"; ctx.textBaseline = "middle";
      ctx.fillText(marker.is_truth ? "✓" : String(index + 1), x, top + 1);
    }
  }
  function scaleBar() {
    const kmPerPixel = (EQUATOR_KM * Math.cos((latitude(view.y) * Math.PI) / 180)) / view.size;
    const most = 120 * kmPerPixel, power = 10 ** Math.floor(Math.log10(most));
    const km = [5, 2, 1].map((n) => n * power).find((n) => n <= most);
    $("scale-bar").style.width = `${km / kmPerPixel}px`;
    $("scale-text").textContent = km >= 1 ? `${km} km` : `${Math.round(km * 1000)} m`;
  }
  function draw() {
    wanted = false;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = colour("--sea"); ctx.fillRect(0, 0, width, height);
    const coast = coastFor(view.size);
    ctx.fillStyle = colour("--land"); shapes(coast.land, (path) => ctx.fill(path));
    ctx.fillStyle = colour("--sea"); shapes(coast.holes, (path) => ctx.fill(path));
    grid();
    heatLayer();
    stroke(coast.borders, colour("--border"), 0.8);
    stroke(coast.land, colour("--shore"), 0.9); stroke(coast.holes, colour("--shore"), 0.9);
    const list = pins();
    labels(list.map(({ x, y }) => [x - PIN, y - TIP, x + PIN, y]));
    for (let i = photo.outlines.length - 1; i >= 0; i--) {
      stroke(photo.outlines[i].shapes, colour("--halo"), 4.5);
      stroke(photo.outlines[i].shapes, colour(`--outline-${i % 3}`), 2.2);
    }
    drawPins(list);
    layer?.draw();
    scaleBar();
  }

  // ---- the answer beside the map
  let photo, selected = -1;
  let layer = null; // of a page of many photos
  function element(parent, tag, className, text) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }
  function picture(parent, uri) { const image = element(parent, "img"); image.alt = ""; image.src = uri; }
  const percent = (share) => share >= 0.0995 ? `${Math.round(100 * share)} %` : `${(100 * share).toFixed(1)} %`;
  function select(index, fly) {
    selected = index;
    document.querySelectorAll("#answer li button").forEach((button, at) => button.setAttribute("aria-current", at === index));
    const marker = photo.markers[index];
    if (fly && marker) flyTo({ size: Math.max(view.size, 6000), x: worldX(marker.lon), y: worldY(marker.lat) });
    redraw();
  }
  function showPhoto() {
    selected = -1;
    for (const outline of photo.outlines) outline.shapes ??= outline.lines.map((line) => shapeOf(line, false));
    const answer = $("answer");
    answer.replaceChildren();
    if (photo.thumbnail) picture(answer, photo.thumbnail);
    element(answer, "h1", "", photo.name);
    element(answer, "p", "summary", photo.summary);
    const facts = element(answer, "dl");
    for (const [name, value] of photo.facts) { element(facts, "dt", "", name); element(facts, "dd", "", value); }
    const list = element(answer, "ol");
    photo.markers.forEach((marker, at) => {
      const item = element(list, "li", marker.is_truth ? "truth" : "");
      const button = element(item, "button");
      element(button, "span", "number", marker.is_truth ? "✓" : at + 1);
      element(button, "span", "label", marker.label);
      element(button, "span", "share", marker.probability == null ? "" : percent(marker.probability));
      const ns = marker.lat < 0 ? "S" : "N", ew = marker.lon < 0 ? "W" : "E";
      element(button, "span", "note", `${Math.abs(marker.lat).toFixed(3)}° ${ns}, ${Math.abs(marker.lon).toFixed(3)}° ${ew}`);
      button.onclick = () => select(at, true);
    });
    legend();
    $("credit").textContent = data.credit;
  }
  // What the colours and lines mean, and the signs of a page of many photos.
  function legend() {
    const box = $("legend");
    box.replaceChildren();
    const row = (className, text) => { const line = element(box, "div"), sign = element(line, "i", className); element(line, "span", "", text); return sign; };
    if (photo.heat) row("ramp", "density, from 1/1000 of its peak").style.background = `linear-gradient(90deg, ${data.ramp.join(",")})`;
    photo.outlines.forEach((outline, index) => { row("", outline.label).style.borderColor = `var(--outline-${index % 3})`; });
    for (const [className, text] of layer?.signs?.(photo === NONE) ?? []) row(className, text);
    box.hidden = !box.childElementCount;
  }
  // One of many photos: its density, outlines and hypotheses, where the page has them. Gives the view that holds them, or null.
  const NONE = { outlines: [], markers: [], facts: [] };
  function detail(index) {
    photo = data.photos[index] ?? NONE;
    for (const outline of photo.outlines) outline.shapes ??= outline.lines.map((line) => shapeOf(line, false));
    legend();
    redraw();
    return photo === NONE ? null : answerView(false);
  }

  // ---- hands: pointers, wheel, keys, buttons
  const pointers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    cancelAnimationFrame(flight);
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    if (pointers.size === 1) moved = 0;
    canvas.classList.add("dragged");
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.offsetX, event.offsetY];
    if (pointers.size === 1) pan(now[0] - before[0], now[1] - before[1]);
    else if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (p) => Math.max(20, Math.hypot(p[0] - other[0], p[1] - other[1]));
      pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
      zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    }
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    pointers.set(event.pointerId, now);
  });
  const lift = (event) => {
    if (event.type === "pointerup" && pointers.size === 1 && moved < 5 && layer) layer.tap(event.offsetX, event.offsetY);
    else if (event.type === "pointerup" && pointers.size === 1 && moved < 5) {
      const hit = pins().find(({ x, y }) => Math.hypot(event.offsetX - x, event.offsetY - (y - TIP + PIN)) < PIN + 5);
      select(hit ? hit.index : -1, false);
    }
    pointers.delete(event.pointerId);
    if (!pointers.size) canvas.classList.remove("dragged");
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    cancelAnimationFrame(flight);
    const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1);
    zoom(2 ** (-Math.max(-240, Math.min(240, pixels)) / 240), event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => zoom(2, event.offsetX, event.offsetY));
  const actions = {
    ArrowLeft: () => pan(80, 0), ArrowRight: () => pan(-80, 0), ArrowUp: () => pan(0, 80), ArrowDown: () => pan(0, -80),
    "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: () => flyTo(worldView()), f: () => flyTo(answerView()),
  };
  canvas.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (action && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); action(); }
  });
  $("zoom-in").onclick = () => zoom(1.6);
  $("zoom-out").onclick = () => zoom(1 / 1.6);
  $("fit").onclick = () => flyTo(answerView());
  $("world").onclick = () => flyTo(worldView());
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const setDark = (on) => { document.documentElement.classList.toggle("dark", on); redraw(); };
  $("theme").onclick = () => setDark(!document.documentElement.classList.contains("dark"));
  dark.addEventListener("change", () => setDark(dark.matches));

  // ---- begin
  function resize() {
    const box = canvas.getBoundingClientRect();
    [width, height, ratio] = [Math.max(1, box.width), Math.max(1, box.height), window.devicePixelRatio || 1];
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    settle();
    draw(); // at once: a new size has cleared the canvas
  }
  photo = data.photos[0];
  if (data.crowd || data.track) {
    photo = NONE;
    layer = (data.track ? track : crowd)(data.track || data.crowd, {
      ctx, view, screenX, screenY, worldX, worldY, eachTurn, colour, redraw, flyTo, viewOf, element, percent, EQUATOR_KM, detail,
      size: () => [width, height],
    });
    document.documentElement.classList.toggle("dark", dark.matches);
    $("credit").textContent = data.credit;
    resize();
    if (location.hash.includes("theme-dark")) setDark(true);
    Object.assign(view, location.hash.includes("view-world") ? worldView() : answerView());
    settle();
    layer.start();
    new ResizeObserver(resize).observe(canvas);
  } else if (photo) {
    document.documentElement.classList.toggle("dark", dark.matches);
    showPhoto();
    resize();
    // #view-world in the address begins with the whole world, #theme-dark in the dark.
    if (location.hash.includes("theme-dark")) setDark(true);
    Object.assign(view, location.hash.includes("view-world") ? worldView() : answerView());
    settle();
    new ResizeObserver(resize).observe(canvas);
  }
})();
