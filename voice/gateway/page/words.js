// Small wordings that several parts of the page share.

export const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

export const short = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

// Time of the call's clock.
export const clock = (ms) => {
  const tenths = Math.floor(ms / 100);
  return `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
};

export const quote = (text) => `“${String(text).trim()}”`;

export const plain = (name) => String(name).replaceAll("_", " ");

export function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}
