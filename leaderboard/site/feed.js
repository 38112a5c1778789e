// The source of the data: polls the board, and notifies the page only when it has changed.

const MIN_INTERVAL = 3000; // milliseconds between two polls
const MAX_INTERVAL = 60000;
const INTERVAL_FACTOR = 10; // times the response time: a large board is polled less often

const KEY_NAME = "api-key";

export const storedKey = () => sessionStorage.getItem(KEY_NAME);
export const storeKey = (key) => (key ? sessionStorage.setItem(KEY_NAME, key) : sessionStorage.removeItem(KEY_NAME));

export class HttpError extends Error {
  constructor(status) {
    super(`the server answered with ${status}`);
    this.status = status;
  }
}

export async function request(address, { headers = {}, signal } = {}) {
  const key = storedKey();
  const response = await fetch(address, {
    headers: key ? { ...headers, "x-api-key": key } : headers,
    cache: "no-store",
    credentials: "same-origin",
    signal,
  });
  if (!response.ok && response.status !== 304) throw new HttpError(response.status);
  return response;
}

export class Feed {
  // onBoard(board) is called when the data have changed; onState("live" | "lost" | "refused") after every poll
  constructor(settings, { onBoard, onState }) {
    this.settings = settings;
    this.onBoard = onBoard;
    this.onState = onState;
    this.phase = null;
    this.failures = 0;
    document.addEventListener("visibilitychange", () => document.hidden || this.poll());
    addEventListener("online", () => this.poll());
  }

  address(phase, kind = "data") {
    return this.settings[kind].replace("{phase}", encodeURIComponent(phase));
  }

  // Starts to poll a phase; `response` is the first response, if the caller has it already.
  follow(phase, response) {
    this.phase = phase;
    this.etag = null;
    return this.poll(response);
  }

  // Polls now, and again after a delay. A poll that another one replaces is aborted.
  async poll(first) {
    if (this.phase === null) return; // no phase is followed yet
    clearTimeout(this.timer);
    this.controller?.abort();
    const controller = (this.controller = new AbortController());
    const isCurrent = () => this.controller === controller;
    const start = performance.now();
    try {
      const headers = this.etag ? { "If-None-Match": this.etag } : {};
      const response = first ?? (await request(this.address(this.phase), { headers, signal: controller.signal }));
      const board = response.status === 304 ? null : await response.json();
      if (!isCurrent()) return;
      this.failures = 0;
      this.etag = response.headers.get("ETag") ?? this.etag;
      if (board) this.onBoard(board);
      this.onState("live");
    } catch (failure) {
      if (!isCurrent()) return;
      this.failures += 1;
      this.onState(failure instanceof HttpError && failure.status < 500 ? "refused" : "lost", failure);
    }
    this.timer = setTimeout(() => document.hidden || this.poll(), this.delay(performance.now() - start));
  }

  delay(responseTime) {
    if (!this.settings.live) return MAX_INTERVAL;
    if (this.failures) return Math.min(MAX_INTERVAL / 4, 1000 * 2 ** Math.min(this.failures - 1, 4));
    return Math.min(MAX_INTERVAL, Math.max(MIN_INTERVAL, INTERVAL_FACTOR * responseTime));
  }
}
