// The globe: land, the density, its 50 % and 90 % outlines, numbered places, a circle that is drawn, samples under way, a trip's track. Poles and
// the antimeridian are d3-geo's to get right.
import { geoArea, geoCircle, geoDistance, geoGraticule10, geoNaturalEarth1, geoOrthographic, geoPath } from "./d3-geo.js";
import { Labels } from "./labels.js";
import { Shores } from "./shores.js";
import { Texture } from "./texture.js";

const SPHERE = { type: "Sphere" };
const GRID = geoGraticule10();
const EARTH_KM = 6371.0088;
// The side of a dot's picture, in pixels.
const DOT = 14;
// A trip's dots: what fills them and what is around them.
const LOOKS = { placed: ["accent", "paper"], guess: ["paper", "accent"], tag: ["truth", "paper"], ticked: ["accent", "paper"], moved: ["moved", "paper"], refused: ["line", "soft"], chosen: ["text", "paper"] };

// Shores and borders: the layout of scripts/map_coastline.py.
async function coast(detail) {
  const bytes = new Uint8Array(await (await fetch(new URL(`coast-${detail}.bin`, import.meta.url))).arrayBuffer());
  let at = 0;
  const number = () => {
    let value = 0, scale = 1, byte;
    do { byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte > 127);
    return value;
  };
  const delta = () => { const value = number(); return value % 2 ? -(value + 1) / 2 : value / 2; };
  const points = (count) => {
    const list = [];
    for (let i = 0, x = 0, y = 0; i < count; i++) list.push([(x += delta()) / 500, (y += delta()) / 500]);
    return list;
  };
  // d3 has the inside on the right: no shore encloses half of the Earth.
  const ring = (count) => {
    // On a flat map Antarctica is closed along the pole; on a sphere that is one point.
    const list = points(count).filter(([, lat]) => lat > -89.99);
    if (list.length < 3) return null;
    list.push(list[0]);
    return geoArea({ type: "Polygon", coordinates: [list] }) > 2 * Math.PI ? list.reverse() : list;
  };
  const land = [], lakes = [], borders = [];
  for (let rings = number(); rings > 0; rings--) {
    const head = number();
    const shore = ring(Math.floor(head / 2));
    if (shore) (head % 2 ? lakes : land).push([shore]);
  }
  for (let lines = number(); lines > 0; lines--) borders.push(points(number()));
  const polygons = (coordinates) => ({ type: "MultiPolygon", coordinates });
  return { land: polygons(land), lakes: polygons(lakes), borders: { type: "MultiLineString", coordinates: borders } };
}

// A region's outline, without the cut along the antimeridian.
function outline(geometry) {
  const polygons = geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
  const onCut = ([x, y]) => Math.abs(x) > 179.999 || Math.abs(y) > 89.999;
  const lines = [];
  for (const ring of polygons.flat()) {
    let line = [ring[0]];
    for (let i = 1; i < ring.length; i++) {
      if (onCut(ring[i - 1]) && onCut(ring[i])) { lines.push(line); line = []; }
      line.push(ring[i]);
    }
    lines.push(line);
  }
  return { type: "MultiLineString", coordinates: lines.filter((line) => line.length > 1) };
}

export class Globe {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.centre = [10, 25];
    this.zoom = 1;
    this.isFlat = false;
    this.isMoving = false;
    this.regions = [];
    this.places = [];
    this.texture = null;
    // A circle: { at, km }; samples: places without a name.
    this.circle = null;
    this.samples = null;
    // A trip: its way and the places of its photos.
    this.track = null;
    // Called with the circle that a pointer drew, while drawing is on.
    this.whenDrawn = null;
    // Called with the number of the stop that a pointer chose.
    this.whenChosen = null;
    // Where set, the first place is a pin to drag: called with its place and the kilometres of a pixel once it is dropped, or null when that is given up.
    this.whenMoved = null;
    // Called with the pin's place while keys move it.
    this.whenNudged = null;
    this.labels = new Labels(() => this.redraw());
    this.shores = new Shores(() => this.redraw());
    // Where set, streets and the like: see tiles.js.
    this.tiles = null;
    this.coasts = {};
    for (const detail of ["coarse", "fine"]) coast(detail).then((lines) => { this.coasts[detail] = lines; this.redraw(); });
    new ResizeObserver(() => this.redraw()).observe(canvas);
    this.listen();
  }

  // Shows an answer: its density, regions and hypotheses of its FeatureCollection, and the photo's own tag.
  show(answer) {
    const features = answer.density.features;
    this.track = null;
    this.texture = answer.grid ? new Texture(answer.grid) : null;
    const areas = features.filter((feature) => feature.geometry && feature.geometry.type !== "Point");
    this.regions = areas
      .map((feature) => ({ probability: feature.properties.probability, line: outline(feature.geometry) }))
      .sort((a, b) => b.probability - a.probability);
    this.places = answer.hypotheses.map((place, k) => ({ at: [place.lon, place.lat], text: String(k + 1), share: place.probability }));
    this.tag = answer.gps ? [answer.gps.lon, answer.gps.lat] : null;
    const reach = Math.max(answer.radius_90_km, 300) / EARTH_KM;
    this.turnTo([answer.best.lon, answer.best.lat], Math.max(1, Math.min(16, 0.75 / Math.sin(Math.min(reach, 1.2)))));
  }

  // Shows nothing but the Earth.
  clear() {
    Object.assign(this, { regions: [], places: [], texture: null, circle: null, samples: null, track: null, tag: null });
    this.redraw();
  }

  // Shows a photo of a trip: circles about its place, other places it may be, its tag, and the way of all (lines, cut where a map is).
  // With `stays` the globe is not turned.
  showOfTrip(said, way, stops, stays = false) {
    const at = ({ lat, lon }) => [lon, lat];
    const best = at(said.best), degrees = 180 / Math.PI;
    this.texture = null;
    this.regions = [[0.9, said.radius_90_km], [0.5, said.radius_50_km]].map(([probability, km]) => (
      { probability, line: geoCircle().center(best).radius(Math.min(km / EARTH_KM * degrees, 179)).precision(2)() }));
    this.places = [said.best, ...said.alternatives].map((place, k) => ({ at: at(place), text: String(k + 1) }));
    this.tag = said.gps ? at(said.gps) : null;
    this.track = { way, stops };
    if (stays) { this.redraw(); return; }
    const furthest = way.flat().reduce((most, place) => Math.max(most, geoDistance(best, place)), 0);
    const reach = Math.min(1.2, 1.15 * Math.max(furthest, said.radius_90_km / EARTH_KM, 30 / EARTH_KM));
    this.turnTo(best, Math.max(1, Math.min(160, 0.9 / Math.sin(reach))));
  }

  turnTo(centre, zoom = this.zoom) {
    const from = [...this.centre], before = this.zoom, begin = performance.now();
    const east = ((centre[0] - from[0] + 540) % 360) - 180;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = (now) => {
      const t = still ? 1 : Math.min(1, (now - begin) / 700), s = t * t * (3 - 2 * t);
      this.centre = [from[0] + s * east, from[1] + s * (centre[1] - from[1])];
      this.zoom = before * (zoom / before) ** s;
      this.isMoving = t < 1;
      this.draw();
      if (t < 1) this.turning = requestAnimationFrame(step);
    };
    cancelAnimationFrame(this.turning);
    this.turning = requestAnimationFrame(step);
  }

  setStops(stops) { if (this.track) { this.track.stops = stops; this.redraw(); } }

  setCircle(circle) { this.circle = circle; this.redraw(); }

  setSamples(samples) { this.samples = samples; this.redraw(); }

  // From now on a pointer draws a circle, from its centre outwards, instead of turning the globe; null: no more.
  draws(whenDrawn) {
    this.whenDrawn = whenDrawn;
    this.canvas.classList.toggle("drawing", Boolean(whenDrawn));
  }

  setFlat(isFlat) { this.isFlat = isFlat; this.redraw(); }

  zoomBy(factor) { this.zoom = Math.max(0.8, Math.min(this.tiles ? 30000 : 400, this.zoom * factor)); this.redraw(); }

  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  projection(width, height) {
    const size = Math.min(width, height);
    const made = this.isFlat
      ? geoNaturalEarth1().scale(Math.min(width / 5.6, height / 2.9) * this.zoom)
      : geoOrthographic().scale(0.45 * size * this.zoom).clipAngle(90);
    if (this.isFlat) {
      made.rotate([0, 0]).center([this.zoom > 1.05 ? this.centre[0] : 0, this.zoom > 1.05 ? this.centre[1] : 0]);
    } else {
      made.rotate([-this.centre[0], -this.centre[1]]);
    }
    // Lines are not bent between their points while it moves: they are short.
    return made.translate([width / 2, height / 2]).precision(this.isMoving && !this.isFlat ? 0 : 0.5);
  }

  draw() {
    const { canvas, context } = this;
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const projection = this.projection(width, height);
    // What is filled and has an outline is projected once.
    const paths = new Map();
    const path = (shape) => {
      if (!paths.has(shape)) {
        const made = new Path2D();
        geoPath(projection, made)(shape);
        paths.set(shape, made);
      }
      return paths.get(shape);
    };
    const fill = (shape, name) => { context.fillStyle = colour(name); context.fill(path(shape)); };
    const stroke = (shape, name, thick, dash = []) => {
      context.setLineDash(dash);
      context.strokeStyle = colour(name); context.lineWidth = thick; context.stroke(path(shape)); context.setLineDash([]);
    };
    // A world of 256 pixels has level 0.
    const level = Math.log2(2 * Math.PI * projection.scale() / 256);
    context.fillStyle = colour("land");
    if (this.tiles && level > 6) context.fillRect(0, 0, width, height);
    else { fill(SPHERE, "sea"); stroke(GRID, "grid", 0.7); }
    // Tiles have shores, borders and names of their own.
    const isTiled = this.tiles?.draw(context, projection, level, this.centre, width, height, this.isMoving);
    canvas.dataset.tiles = isTiled ? this.tiles.drawn : 0;
    const lines = isTiled ? null : (this.isMoving && this.coasts.coarse) || this.coasts.fine || this.coasts.coarse;
    const near = !lines ? null : this.shores.seen(level, (pixel) => projection.invert(pixel), width, height);
    canvas.dataset.shores = near?.count ?? 0;
    if (lines) {
      fill(near?.land ?? lines.land, "land");
      // Above it, for each state is simplified by itself: seams between them are land.
      if (near?.states) fill(near.states, "land");
      fill(near?.lakes ?? lines.lakes, "sea");
    }
    if (this.texture) {
      context.save();
      context.clip(path(SPHERE));
      this.texture.paint(context, projection, width, height, this.isMoving ? 5 : 2);
      context.restore();
    }
    if (lines) {
      if (near?.states) stroke(near.states, "border", 0.5);
      else stroke(near?.shore ?? lines.land, "shore", 0.7);
      if (!near?.shore) stroke(lines.lakes, "shore", 0.7);
      if (!near?.states) stroke((near ?? lines).borders, "border", near ? 1.2 : 0.7);
    }
    if (this.circle) {
      const shape = geoCircle().center(this.circle.at).radius(this.circle.km / EARTH_KM * 180 / Math.PI).precision(2)();
      fill(shape, "drawn");
      stroke(shape, "truth", 2, [2, 3]);
    }
    for (const { line, probability } of this.regions) { stroke(line, "halo", 4.5); stroke(line, probability > 0.7 ? "most" : "half", 2.2); }
    if (!isTiled) stroke(SPHERE, "rim", 1.2);
    const isSeen = this.seen();
    if (!isTiled && !this.isMoving && !this.samples) this.labels.draw(context, projection, level, width, height, isSeen, colour);
    canvas.dataset.names = this.labels.drawn ?? 0;
    if (this.tag && isSeen(this.tag)) this.mark(projection(this.tag), "◎", colour("truth"), colour("paper"), 8);
    canvas.dataset.way = (this.track?.way ?? []).reduce((sum, line) => sum + line.length, 0);
    this.drawWay(projection, isSeen, colour("accent"));
    this.drawStops(projection, isSeen, colour);
    for (const place of [...this.places].reverse()) {
      if (this.samples || !isSeen(place.at)) continue;
      this.mark(projection(place.at), place.text, colour("accent"), colour("on-accent"), place.text === "1" ? 13 : 10);
    }
    for (const at of this.samples ?? []) if (isSeen(at)) this.mark(projection(at), "", colour("accent"), colour("paper"), 5);
  }

  // Whether a place is on this side of the Earth.
  seen() {
    if (this.isFlat) return () => true;
    const rad = Math.PI / 180, [lon, lat] = this.centre, [x, y, z] = [Math.cos(lat * rad) * Math.cos(lon * rad), Math.cos(lat * rad) * Math.sin(lon * rad), Math.sin(lat * rad)];
    return ([east, north]) => {
      const flat = Math.cos(north * rad);
      return x * flat * Math.cos(east * rad) + y * flat * Math.sin(east * rad) + z * Math.sin(north * rad) > 0;
    };
  }

  // The way of a trip: short pieces are straight on the map, too; long ones are great circles, once the globe rests.
  drawWay(projection, isSeen, colour) {
    const { context } = this, PIECES = 64, LONG_DEG = 5;
    const path = geoPath(projection, context);
    context.strokeStyle = colour;
    context.lineWidth = 2.5;
    context.lineJoin = "round";
    for (const line of this.track?.way ?? []) {
      let last = null, pieces = 0;
      context.beginPath();
      for (const [k, at] of line.entries()) {
        const point = isSeen(at) ? projection(at) : null, before = line[k - 1];
        // Points on the same pixels are one while it moves.
        if (this.isMoving && last && point && Math.abs(point[0] - last[0]) + Math.abs(point[1] - last[1]) < 3) continue;
        const isLong = k && (Math.abs(at[1] - before[1]) > LONG_DEG || Math.abs(at[0] - before[0]) > LONG_DEG);
        if (isLong && (!this.isMoving || Math.abs(at[0] - before[0]) > 180)) path({ type: "LineString", coordinates: [before, at] });
        else if (last && point) { context.moveTo(...last); context.lineTo(...point); }
        // Many short paths are drawn faster than a long one.
        if (++pieces % PIECES === 0) { context.stroke(); context.beginPath(); }
        last = point;
      }
      context.stroke();
    }
  }

  // The photos of a trip, thousands of them: full for tags and placed ones, hollow for guesses. A dot is drawn once and copied.
  drawStops(projection, isSeen, colour) {
    this.drawn = [];
    if (!this.track) return;
    const names = Object.keys(LOOKS), dots = names.map((name) => this.dot(...LOOKS[name].map(colour)));
    const taken = new Set(), last = names.indexOf("chosen"), above = [], grain = this.isMoving ? 4 : 2;
    const draw = (look, x, y) => this.context.drawImage(dots[look], x - DOT / 2, y - DOT / 2, DOT, DOT);
    for (const [k, { at, look: name, isGuess }] of this.track.stops.entries()) {
      const point = isSeen(at) && projection(at);
      if (!point) continue;
      this.drawn.push([k, ...point]);
      // Dots on the same pixels are one, with larger pixels while it moves.
      const look = names.indexOf(name ?? (isGuess ? "guess" : "placed"));
      const spot = (Math.round(point[0] / grain) * 8192 + Math.round(point[1] / grain)) * names.length + look;
      if (taken.has(spot)) continue;
      taken.add(spot);
      if (look === last) above.push(point); else draw(look, ...point);
    }
    for (const point of above) draw(last, ...point);
  }

  // A dot as a small picture.
  dot(back, front) {
    const ratio = devicePixelRatio || 1, key = `${back} ${front} ${ratio}`;
    this.dots ??= new Map();
    if (!this.dots.has(key)) {
      const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
      canvas.width = canvas.height = Math.ceil(DOT * ratio);
      context.scale(canvas.width / DOT, canvas.width / DOT);
      context.arc(DOT / 2, DOT / 2, 5, 0, 2 * Math.PI);
      context.fillStyle = back;
      context.strokeStyle = front;
      context.lineWidth = 1.5;
      context.fill();
      context.stroke();
      this.dots.set(key, canvas);
    }
    return this.dots.get(key);
  }

  // Where on Earth the pointer is, or null.
  under(event) {
    const box = this.canvas.getBoundingClientRect(), pixel = [event.clientX - box.left, event.clientY - box.top];
    const projection = this.projection(this.canvas.clientWidth, this.canvas.clientHeight);
    const place = projection.invert(pixel);
    if (!place || Number.isNaN(place[0]) || Math.abs(place[1]) > 90) return null;
    // On a flat map there is no Earth beyond its rim.
    const again = projection(place);
    return again && Math.hypot(again[0] - pixel[0], again[1] - pixel[1]) < 2 && Math.abs(place[0]) <= 180.01 ? place : null;
  }

  // Kilometres of a pixel in the middle.
  kmPerPixel() {
    return EARTH_KM / this.projection(this.canvas.clientWidth, this.canvas.clientHeight).scale();
  }

  // Whether a pointer is on the pin that can be dragged.
  isOnPin(event) {
    if (!this.whenMoved || !this.places.length || !this.seen()(this.places[0].at)) return false;
    const box = this.canvas.getBoundingClientRect(), [x, y] = this.projection(this.canvas.clientWidth, this.canvas.clientHeight)(this.places[0].at);
    return Math.hypot(x - event.clientX + box.left, y - event.clientY + box.top) < (event.pointerType === "touch" ? 26 : 16);
  }

  movePin(place) {
    this.places = [{ ...this.places[0], at: place }];
    this.regions = [];
    this.isPinMoved = true;
    this.redraw();
  }

  dropPin() {
    if (!this.isPinMoved) return;
    this.isPinMoved = false;
    this.whenMoved?.(this.places[0].at, this.kmPerPixel());
  }

  // Moves the pin so many pixels.
  nudgePin(x, y) {
    const projection = this.projection(this.canvas.clientWidth, this.canvas.clientHeight), at = projection(this.places[0].at);
    const place = at && projection.invert([at[0] + x, at[1] + y]);
    if (!place || Number.isNaN(place[0]) || Math.abs(place[1]) > 90) return;
    this.movePin(place);
    this.whenNudged?.(place);
  }

  // Chooses the stop under a pointer.
  tap(event) {
    const box = this.canvas.getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let nearest = 12, hit = -1;
    for (const [k, px, py] of this.drawn ?? []) {
      const away = Math.hypot(px - x, py - y);
      if (away < nearest) { nearest = away; hit = k; }
    }
    if (hit >= 0) this.whenChosen?.(hit);
  }

  mark(at, text, back, front, radius) {
    if (!at) return;
    const { context } = this;
    context.beginPath();
    context.arc(at[0], at[1], radius, 0, 2 * Math.PI);
    context.fillStyle = back;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = front;
    context.stroke();
    context.fillStyle = front;
    context.font = `700 ${radius + 1}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, at[0], at[1] + 0.5);
  }

  listen() {
    const { canvas } = this;
    const fingers = new Map();
    const degrees = () => 57.3 / (0.45 * Math.min(canvas.clientWidth, canvas.clientHeight) * this.zoom);
    const turn = (x, y) => {
      this.centre = [this.centre[0] - x * degrees(), Math.max(-90, Math.min(90, this.centre[1] + y * degrees()))];
    };
    let from = null, moved = 0, pin = null;
    canvas.addEventListener("pointerdown", (event) => {
      moved = 0;
      if (pin === null && !fingers.size && this.isOnPin(event)) {
        pin = event.pointerId;
        cancelAnimationFrame(this.turning);
        canvas.setPointerCapture(event.pointerId);
        return;
      }
      if (this.whenDrawn) {
        from = this.under(event);
        canvas.setPointerCapture(event.pointerId);
        return;
      }
      cancelAnimationFrame(this.turning);
      canvas.setPointerCapture(event.pointerId);
      canvas.classList.add("dragged");
      fingers.set(event.pointerId, event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (pin !== null) {
        const to = pin === event.pointerId && this.under(event);
        if (to) this.movePin(to);
        return;
      }
      if (from) {
        const to = this.under(event);
        if (to) this.setCircle({ at: from, km: Math.max(1, geoDistance(from, to) * EARTH_KM) });
        return;
      }
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const others = [...fingers.values()].filter((finger) => finger.pointerId !== event.pointerId);
      if (others.length) {
        const far = (finger) => Math.hypot(finger.clientX - others[0].clientX, finger.clientY - others[0].clientY);
        this.zoomBy(far(event) / Math.max(20, far(before)));
      } else {
        turn(event.clientX - before.clientX, event.clientY - before.clientY);
      }
      moved += Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
      fingers.set(event.pointerId, event);
      this.isMoving = true;
      this.redraw();
    });
    const lift = (event) => {
      if (pin !== null) {
        if (pin !== event.pointerId) return;
        pin = null;
        if (event.type === "pointerup") this.dropPin();
        else { this.isPinMoved = false; this.whenMoved?.(null); }
        return;
      }
      if (from) {
        from = null;
        if (this.whenDrawn && this.circle) this.whenDrawn(this.circle);
        return;
      }
      fingers.delete(event.pointerId);
      if (fingers.size) return;
      canvas.classList.remove("dragged");
      this.isMoving = false;
      if (event.type === "pointerup" && moved < 5) this.tap(event);
      this.redraw();
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoomBy(Math.exp(-event.deltaY / 500)); }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [30, 0], ArrowRight: [-30, 0], ArrowUp: [0, 30], ArrowDown: [0, -30] };
      if (moves[event.key] && event.shiftKey && this.whenMoved && this.places.length) this.nudgePin(...moves[event.key].map((part) => -part / 3));
      else if (event.key === "Enter" && this.isPinMoved) this.dropPin();
      else if (event.key === "Escape" && this.isPinMoved) { this.isPinMoved = false; this.whenMoved?.(null); }
      else if (moves[event.key]) turn(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoomBy(1.3);
      else if (event.key === "-") this.zoomBy(1 / 1.3);
      else return;
      event.preventDefault();
      this.redraw();
    });
  }
}
