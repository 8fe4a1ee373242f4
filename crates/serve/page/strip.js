// The strip of photos: any number, of which those in sight exist. Items have one width, so that each one's place is known.

export class Strip {
  // `fill` puts a photo's contents into its button; `choose` is told which was chosen, and by which event.
  constructor(list, fill, choose) {
    Object.assign(this, { list, fill, choose, photos: [], made: new Map(), width: 74, current: () => false });
    this.inner = document.createElement("div");
    this.inner.className = "room";
    this.inner.setAttribute("role", "presentation");
    list.append(this.inner);
    const soon = () => { cancelAnimationFrame(this.frame); this.frame = requestAnimationFrame(() => this.show()); };
    list.addEventListener("scroll", soon, { passive: true });
    new ResizeObserver(soon).observe(list);
    list.addEventListener("keydown", (event) => this.key(event));
  }

  // Shows these photos; `current` says which are chosen.
  set(photos, width, current) {
    const focused = this.photos[Number(document.activeElement?.closest?.("#photos button")?.dataset.k)];
    Object.assign(this, { photos, width, current });
    for (const item of this.made.values()) item.remove();
    this.made.clear();
    this.inner.style.width = `${photos.length * width}px`;
    this.show();
    // Whoever came with the keyboard stays where the photo is.
    if (focused && photos.includes(focused)) this.focus(photos.indexOf(focused));
  }

  // Makes a photo's item anew, where it is in sight.
  refresh(photo) {
    const k = this.photos.indexOf(photo), item = this.made.get(k);
    if (item) this.fill(item.firstChild, photo);
  }

  show() {
    const first = Math.max(0, Math.floor(this.list.scrollLeft / this.width) - 2);
    const last = Math.min(this.photos.length, Math.ceil((this.list.scrollLeft + this.list.clientWidth) / this.width) + 2);
    for (const [k, item] of this.made) if ((k < first || k >= last) && !item.contains(document.activeElement)) { item.remove(); this.made.delete(k); }
    for (let k = first; k < last; k++) if (!this.made.has(k)) {
      const item = document.createElement("div"), button = document.createElement("button"), photo = this.photos[k];
      item.setAttribute("role", "listitem");
      item.setAttribute("aria-setsize", this.photos.length);
      item.setAttribute("aria-posinset", k + 1);
      item.className = "item";
      item.style.left = `${k * this.width}px`;
      button.type = "button";
      button.dataset.k = k;
      button.setAttribute("aria-current", String(this.current(photo)));
      button.addEventListener("click", (event) => this.choose(photo, event));
      item.append(button);
      this.fill(button, photo);
      const next = [...this.made].filter(([other]) => other > k).sort(([a], [b]) => a - b)[0];
      this.inner.insertBefore(item, next ? next[1] : null);
      this.made.set(k, item);
    }
  }

  // Brings a photo into sight.
  reveal(k) {
    const left = k * this.width, { list } = this;
    if (left < list.scrollLeft) list.scrollLeft = left;
    else if (left + this.width > list.scrollLeft + list.clientWidth) list.scrollLeft = left + this.width - list.clientWidth;
    this.show();
  }

  focus(k) {
    this.reveal(k);
    this.made.get(k)?.firstChild.focus({ preventScroll: true });
  }

  key(event) {
    const at = Number(event.target.dataset?.k);
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.photos.length - 1, PageDown: at + 10, PageUp: at - 10 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const k = Math.max(0, Math.min(this.photos.length - 1, steps[event.key]));
    this.focus(k);
    this.choose(this.photos[k], event);
  }
}
