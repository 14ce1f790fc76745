// A list that follows its newest line, unless someone has scrolled up to read.

const NEAR_PX = 40;

export class Follower {
  constructor(box) {
    this.box = box;
    this.following = true;
    box.addEventListener("scroll", () => {
      this.following = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
    }, { passive: true });
    new ResizeObserver(() => this.follow()).observe(box);
  }

  follow() { if (this.following) this.box.scrollTop = this.box.scrollHeight; }

  restart() { this.following = true; this.follow(); }
}
