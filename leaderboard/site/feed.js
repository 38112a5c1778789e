// Where the data come from: asks for the board again and again, and tells the page only when it has changed.

const SOONEST = 3000; // milliseconds between two questions
const LATEST = 60000;
const SHARE = 10; // of the time that an answer takes to arrive: a heavy board is asked for less often

const KEY = "api-key";

export const storedKey = () => sessionStorage.getItem(KEY);
export const storeKey = (key) => (key ? sessionStorage.setItem(KEY, key) : sessionStorage.removeItem(KEY));

export class RefusedError extends Error {
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
  if (!response.ok && response.status !== 304) throw new RefusedError(response.status);
  return response;
}

export class Feed {
  // onBoard(board) when there are new data; onState("live" | "lost" | "refused") after every question
  constructor(settings, { onBoard, onState }) {
    this.settings = settings;
    this.onBoard = onBoard;
    this.onState = onState;
    this.phase = null;
    this.failures = 0;
    document.addEventListener("visibilitychange", () => document.hidden || this.ask());
    addEventListener("online", () => this.ask());
  }

  address(phase, kind = "data") {
    return this.settings[kind].replace("{phase}", encodeURIComponent(phase));
  }

  // answer: what the server has said about this phase already, if it was asked
  follow(phase, answer) {
    this.phase = phase;
    this.etag = null;
    return this.ask(answer);
  }

  // Asks now, and later again. A question that is replaced by another is not waited for.
  async ask(answer) {
    if (this.phase === null) return; // a window that comes back has nothing to ask for yet
    clearTimeout(this.timer);
    this.question?.abort();
    const question = (this.question = new AbortController());
    const current = () => this.question === question;
    const began = performance.now();
    try {
      const headers = this.etag ? { "If-None-Match": this.etag } : {};
      const response = answer ?? (await request(this.address(this.phase), { headers, signal: question.signal }));
      const board = response.status === 304 ? null : await response.json();
      if (!current()) return;
      this.failures = 0;
      this.etag = response.headers.get("ETag") ?? this.etag;
      if (board) this.onBoard(board);
      this.onState("live");
    } catch (failure) {
      if (!current()) return;
      this.failures += 1;
      this.onState(failure instanceof RefusedError && failure.status < 500 ? "refused" : "lost", failure);
    }
    this.timer = setTimeout(() => document.hidden || this.ask(), this.delay(performance.now() - began));
  }

  delay(taken) {
    if (!this.settings.live) return LATEST;
    if (this.failures) return Math.min(LATEST / 4, 1000 * 2 ** Math.min(this.failures - 1, 4));
    return Math.min(LATEST, Math.max(SOONEST, SHARE * taken));
  }
}
