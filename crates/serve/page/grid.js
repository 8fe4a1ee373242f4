// Photos as a grid under headings, any number of them: only rows in sight exist. The list keeps the focus and names the photo that is current.
// Cells are at least so wide.
const WIDE = 150, HIGH = 164, HEAD = 36;

export class Grid {
  // `fill` puts a photo's contents into its cell; `choose` is told which photo was chosen, and by which event.
  constructor(list, fill, choose) {
    Object.assign(this, { list, fill, choose, groups: [], photos: [], made: new Map(), current: null, columns: 1 });
    this.inner = list.appendChild(document.createElement("div"));
    this.inner.setAttribute("role", "presentation");
    const soon = (isNew) => { this.isNew ||= isNew; cancelAnimationFrame(this.frame); this.frame = requestAnimationFrame(() => this.show()); };
    list.addEventListener("scroll", () => soon(false), { passive: true });
    new ResizeObserver(() => soon(true)).observe(list);
    list.addEventListener("keydown", (event) => this.key(event));
  }

  // Shows groups, each with a `name` and its `photos`; `current` is the photo that has the focus.
  set(groups, current) {
    Object.assign(this, { groups, current, isNew: true, photos: groups.flatMap(({ photos }) => photos) });
    this.show();
  }

  // Where everything is.
  lay() {
    const room = this.list.clientWidth - 6, columns = Math.max(1, Math.floor(room / WIDE));
    let top = 0, first = 0;
    for (const group of this.groups) {
      const height = HEAD + HIGH * Math.ceil(group.photos.length / columns);
      Object.assign(group, { top, first, height });
      top += height;
      first += group.photos.length;
    }
    Object.assign(this, { columns, wide: room / columns });
    this.inner.style.height = `${top}px`;
  }

  show() {
    const { list, made, isNew } = this;
    if (!list.clientHeight) return;
    if (isNew) this.lay();
    const top = list.scrollTop, bottom = top + list.clientHeight, { columns } = this, used = new Set(), sections = [];
    for (const group of this.groups) {
      if (group.top + group.height < top || group.top > bottom) continue;
      const from = columns * Math.max(0, Math.floor((top - group.top - HEAD) / HIGH));
      const cells = group.photos.slice(from, columns * Math.ceil((bottom - group.top - HEAD) / HIGH)).map((photo, k) => this.cell(photo, group, from + k));
      cells.forEach((cell) => used.add(cell));
      sections.push(this.section(group, from, cells));
    }
    for (const [photo, cell] of made) if (!used.has(cell)) made.delete(photo);
    if (isNew || sections.length !== this.inner.childElementCount || sections.some((section, k) => section !== this.inner.children[k])) this.inner.replaceChildren(...sections);
    const cell = made.get(this.current);
    if (cell) list.setAttribute("aria-activedescendant", cell.id); else list.removeAttribute("aria-activedescendant");
    this.isNew = false;
  }

  section(group, from, cells) {
    const range = `${from} ${cells.length}`;
    if (!group.element) {
      const element = group.element = document.createElement("div"), head = element.appendChild(document.createElement("div"));
      element.className = "group";
      element.setAttribute("role", "group");
      element.setAttribute("aria-label", `${group.name}, ${group.photos.length}`);
      head.className = "head";
      head.setAttribute("aria-hidden", "true");
      head.title = "Select these photos";
      head.append(group.name, Object.assign(document.createElement("small"), { textContent: ` ${group.photos.length.toLocaleString("en")}` }));
      head.addEventListener("click", (event) => { this.choose(group.photos, event); this.list.focus(); });
    }
    group.element.style.top = `${group.top}px`;
    if (this.isNew || group.range !== range) group.element.replaceChildren(group.element.firstChild, ...cells);
    group.range = range;
    return group.element;
  }

  cell(photo, group, k) {
    let cell = this.made.get(photo);
    if (!cell) {
      cell = document.createElement("div");
      cell.id = `cell-${photo.number}`;
      cell.className = "cell";
      cell.setAttribute("role", "option");
      cell.addEventListener("click", (event) => this.choose(photo, event));
      cell.addEventListener("dblclick", (event) => this.choose(photo, event));
      this.made.set(photo, cell);
      this.fill(cell, photo);
    } else if (this.isNew) this.fill(cell, photo);
    cell.classList.toggle("current", photo === this.current);
    cell.setAttribute("aria-posinset", group.first + k + 1);
    cell.setAttribute("aria-setsize", this.photos.length);
    cell.style.left = `${4 + (k % this.columns) * this.wide}px`;
    cell.style.width = `${this.wide - 6}px`;
    cell.style.top = `${HEAD + Math.floor(k / this.columns) * HIGH}px`;
    return cell;
  }

  groupOf(k) { return this.groups.findIndex(({ first, photos }) => k >= first && k < first + photos.length); }

  // The photo so many rows below, in the same column as far as there is one.
  below(k, rows) {
    let number = this.groupOf(k);
    const { columns } = this, column = (k - this.groups[number].first) % columns, step = Math.sign(rows);
    for (let row = Math.floor((k - this.groups[number].first) / columns); rows; rows -= step) {
      row += step;
      if (row < 0) { if (!number) break; number--; row = Math.ceil(this.groups[number].photos.length / columns) - 1; }
      else if (row * columns >= this.groups[number].photos.length) { if (number === this.groups.length - 1) break; number++; row = 0; }
      const { first, photos } = this.groups[number];
      k = first + Math.min(row * columns + column, photos.length - 1);
    }
    return k;
  }

  // Brings a photo into sight, with its heading where that is next to it.
  reveal(photo) {
    const k = this.photos.indexOf(photo), group = this.groups[this.groupOf(k)], { list } = this;
    if (!group || !list.clientHeight) return;
    const row = Math.floor((k - group.first) / this.columns), top = group.top + HEAD + row * HIGH;
    list.scrollTop = Math.max(Math.min(list.scrollTop, row ? top : group.top), top + HIGH - list.clientHeight);
    this.show();
  }

  key(event) {
    const at = Math.max(0, this.photos.indexOf(this.current)), last = this.photos.length - 1, page = Math.max(1, Math.floor(this.list.clientHeight / HIGH) - 1);
    const steps = { ArrowRight: () => at + 1, ArrowLeft: () => at - 1, ArrowDown: () => this.below(at, 1), ArrowUp: () => this.below(at, -1),
      PageDown: () => this.below(at, page), PageUp: () => this.below(at, -page), Home: () => 0, End: () => last, " ": () => at, Enter: () => at, a: () => at, A: () => at };
    if (!steps[event.key] || event.altKey || last < 0) return;
    event.preventDefault();
    this.choose(this.photos[Math.max(0, Math.min(last, steps[event.key]()))], event);
  }
}
