// A list that follows its newest line, unless someone has scrolled up to read.

const NEAR_PX = 40;

export class Follower {
  constructor(box) {
    this.box = box;
    this.following = true;
    this.at = 0;
    box.addEventListener("scroll", () => {
      const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
      // Only a person scrolls up. Our own scrolling is told late, when more lines may have come.
      if (box.scrollTop < this.at) this.following = isNear;
      else this.following ||= isNear;
      this.at = box.scrollTop;
    }, { passive: true });
    new ResizeObserver(() => this.follow()).observe(box);
  }

  follow() { if (this.following) this.box.scrollTop = this.box.scrollHeight; }

  restart() { this.following = true; this.follow(); }
}
