"use strict";
// What pages of many photos share: clusters on the map, small pictures, a list of which only the part in sight exists.

// Squares of the world in which photos are one cluster, anew for each zoom. `radius` says how large a cluster of n photos is drawn.
function clusterer(xs, ys, view, cell, radius) {
  let clusters = [], made = null, of = null;
  return (shown) => {
    const key = Math.round(2 * Math.log2(view.size)); // half a level at a time
    if (made === key && of === shown) return clusters;
    const size = 2 ** (key / 2), level = size / cell;
    const cells = new Map(), number = (column, row) => column * 1048576 + row;
    for (const i of shown) {
      const column = Math.floor(xs[i] * level), row = Math.floor(ys[i] * level);
      let one = cells.get(number(column, row));
      if (!one) cells.set(number(column, row), (one = { photos: [], x: 0, y: 0, column, row, gone: false }));
      one.photos.push(i); one.x += xs[i]; one.y += ys[i];
    }
    // The larger take in neighbours that they would cover. Sums become means at the end.
    const bySize = [...cells.values()].sort((a, b) => b.photos.length - a.photos.length);
    for (const one of bySize) {
      if (one.gone) continue;
      for (let step = 0; step < 9; step++) {
        const other = cells.get(number(one.column + (step % 3) - 1, one.row + Math.floor(step / 3) - 1));
        if (!other || other === one || other.gone || other.photos.length > one.photos.length) continue;
        const [n, m] = [one.photos.length, other.photos.length];
        const away = Math.hypot(one.x / n - other.x / m, one.y / n - other.y / m) * size;
        if (away > radius(n) + radius(m)) continue;
        for (const i of other.photos) one.photos.push(i);
        one.x += other.x; one.y += other.y; other.gone = true;
      }
    }
    clusters = bySize.filter((one) => !one.gone);
    for (const one of clusters) { const n = one.photos.length; one.x /= n; one.y /= n; }
    clusters.sort((a, b) => a.photos.length - b.photos.length);
    [made, of] = [key, shown];
    return clusters;
  };
}

// The pictures of a page: their text is cut out of one long string, and decoded when a picture is looked at.
function pictures(lengths, whenLoaded) {
  const MOST = 500; // images kept decoded
  const text = document.getElementById("pictures")?.textContent ?? "";
  const from = new Float64Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) from[i + 1] = from[i] + lengths[i];
  const uri = (i) => lengths[i] ? `data:image/jpeg;base64,${text.slice(from[i], from[i + 1])}` : null;
  const images = new Map();
  const image = (i) => {
    let found = images.get(i);
    if (found) images.delete(i); // to the end: used last
    else if (lengths[i]) {
      found = new Image();
      found.onload = whenLoaded;
      found.src = uri(i);
    } else return null;
    images.set(i, found);
    if (images.size > MOST) images.delete(images.keys().next().value);
    return found.complete && found.naturalWidth ? found : null;
  };
  return { uri, image, any: text.length > 0 };
}

// A list of any length: rows of one height, of which those in sight are made. `fill` puts a row's contents into its button.
function longList(parent, row, fill, chosen) {
  const box = document.createElement("div"), list = document.createElement("ol");
  box.className = "long-list"; list.className = "crowd-list long";
  box.append(list); parent.append(box);
  let items = [];
  const made = new Map();
  function show() {
    const port = document.getElementById("panel").getBoundingClientRect(), at = list.getBoundingClientRect();
    const top = Math.max(port.top, box.getBoundingClientRect().top), bottom = port.bottom;
    const first = Math.max(0, Math.floor((top - at.top) / row) - 4);
    const last = Math.min(items.length, Math.ceil((bottom - at.top) / row) + 4);
    for (const [k, item] of made) if (k < first || k >= last) { if (!item.contains(document.activeElement)) { item.remove(); made.delete(k); } }
    for (let k = first; k < last; k++) if (!made.has(k)) {
      const item = document.createElement("li"), button = document.createElement("button");
      item.style.transform = `translateY(${k * row}px)`;
      item.setAttribute("aria-setsize", items.length); item.setAttribute("aria-posinset", k + 1);
      button.type = "button"; button.dataset.k = k;
      fill(button, items[k]);
      button.onclick = () => chosen(items[k]);
      item.append(button);
      const after = [...made.keys()].filter((other) => other > k).sort((a, b) => a - b)[0];
      list.insertBefore(item, after === undefined ? null : made.get(after));
      made.set(k, item);
    }
  }
  let wanted = 0;
  const soon = () => { cancelAnimationFrame(wanted); wanted = requestAnimationFrame(show); };
  document.addEventListener("scroll", soon, { capture: true, passive: true });
  new ResizeObserver(soon).observe(box);
  function reveal(k) {
    const scroller = box.scrollHeight > box.clientHeight + 1 ? box : document.getElementById("panel");
    const top = k * row + (scroller === box ? 0 : list.offsetTop);
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + row > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + row - scroller.clientHeight;
    show();
  }
  list.addEventListener("keydown", (event) => {
    const at = Number(event.target.dataset?.k);
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1, PageDown: at + 8, PageUp: at - 8 };
    if (!(event.key in steps) || !items.length) return;
    event.preventDefault();
    const k = Math.max(0, Math.min(items.length - 1, steps[event.key]));
    reveal(k);
    made.get(k)?.firstChild.focus();
    chosen(items[k]);
  });
  return {
    set(next) {
      items = next;
      for (const item of made.values()) item.remove();
      made.clear();
      list.style.height = `${items.length * row}px`;
      box.scrollTop = 0;
      show();
    },
    mark(one, reveals) {
      const k = items.indexOf(one);
      if (reveals && k >= 0 && box.scrollHeight > box.clientHeight + 1) reveal(k);
      for (const [at, item] of made) {
        if (at === k) item.firstChild.setAttribute("aria-current", "true"); else item.firstChild.removeAttribute("aria-current");
      }
    },
    isMarked: (button, one) => items[Number(button.dataset.k)] === one,
  };
}
