// The charts: Vega draws the lines; this module adds the values at the pointer, the sentence and the table.

import { whole } from "./columns.js";
import { byId, element, setText } from "./elements.js";
import { CHARTS, isolated, Series } from "./series.js";

const CONFIG = {
  background: null,
  font: "system-ui, sans-serif",
  view: { stroke: null },
  axis: {
    labelColor: "var(--quiet)",
    titleColor: "var(--quiet)",
    titleFontWeight: 500,
    titleFontSize: 11,
    labelFontSize: 11,
    gridColor: "var(--line)",
    domainColor: "var(--line-strong)",
    tickColor: "var(--line-strong)",
    titlePadding: 8,
    tickCount: 5,
  },
  axisX: { grid: false, format: "~s" },
  point: { size: 36, filled: true },
};
// The security policy forbids eval, so Vega interprets its expressions (ast).
const LABEL_HEIGHT = 15; // pixels between the names at the ends of two lines

// Returns the space around a chart: names of runs stand at the right end of its lines.
function paddingOf(width) {
  return { left: 4, top: 8, bottom: 4, right: width > 700 ? 170 : width > 420 ? 130 : 92 };
}

const OPTIONS = {
  mode: "vega-lite", ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: false, config: CONFIG,
};

function loadScript(address) {
  return new Promise((resolve, reject) => {
    const script = element("script", { src: address });
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error(`${address} cannot be loaded`)));
    document.head.append(script);
  });
}

// Returns the changes to a chart whose x axis is the number of the held-out pass.
function passAxis({ encoding }, { byPass, board }) {
  if (!byPass || !encoding) return {};
  const count = board.held_out.passes;
  const axis = { values: Array.from({ length: count }, (_, index) => index + 1), format: "d", labelOverlap: false };
  const x = { ...encoding.x, title: "held-out pass", axis, scale: { domain: [1, Math.max(2, count)] } };
  return { encoding: { ...encoding, x } };
}

class Chart {
  constructor({ id, title, wide, views, isShown }) {
    this.isShown = isShown ?? (() => true);
    this.views = views;
    this.view = views[0][0];
    this.names = { heading: `${id}-title`, sentence: `${id}-sentence` };
    this.title = title;
    this.sentence = element("figcaption", { id: this.names.sentence, class: "quiet" });
    this.canvas = element("div", { class: "canvas", "aria-hidden": "true" });
    this.ends = element("div", { class: "ends", "aria-hidden": "true" });
    this.rule = element("div", { class: "rule", hidden: true });
    this.tip = element("div", { class: "tip", hidden: true });
    this.plot = element(
      "div",
      {
        class: "plot", role: "slider", tabindex: 0, "aria-labelledby": this.names.heading,
        "aria-describedby": this.names.sentence, "aria-valuemin": 0, "aria-valuemax": 0, "aria-valuenow": 0,
      },
      this.canvas, this.ends, this.rule, this.tip,
    );
    this.table = element("table");
    this.details = element(
      "details",
      {},
      element("summary", {}, "Show as table", element("span", { class: "hidden" }, `: ${title}`)),
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title} as a table` }, this.table),
    );
    this.details.addEventListener("toggle", () => this.fillTable());
    this.figure = element(
      "figure",
      { id: `chart-${id}`, class: wide ? "card wide" : "card" },
      element("div", { class: "bar" }, element("h3", { id: this.names.heading }, title), this.switcher(id)),
      this.sentence, this.plot, this.details,
    );
    this.listen();
  }

  switcher(id) {
    const group = element("div", { class: "switch", role: "group", "aria-label": `${this.title}: view` });
    if (this.views.length === 1) return group;
    for (const [view, label] of this.views) {
      const button = element("button", { type: "button", "aria-pressed": String(view === this.view) }, label);
      button.addEventListener("click", () => {
        for (const other of group.children) other.setAttribute("aria-pressed", String(other === button));
        this.view = view;
        this.show(...this.shown);
      });
      group.append(button);
    }
    return group;
  }

  // Updates the chart after a change of the data or of the selection.
  show(board, selected, state) {
    this.figure.hidden = !this.isShown(board);
    if (this.figure.hidden) {
      this.shown = null;
      return null;
    }
    this.shown = [board, selected, state];
    this.series = new Series(this.view, board, selected, state);
    setText(this.sentence, this.series.sentence());
    const isEmpty = !this.series.lines.length;
    this.plot.hidden = this.details.hidden = isEmpty;
    this.figure.classList.toggle("nothing", isEmpty);
    this.plot.setAttribute("aria-valuemax", Math.max(0, this.series.rounds.length - 1));
    this.hide();
    if (this.details.open) this.fillTable();
    return this.draw();
  }

  // Draws one version at a time; changes during drawing are drawn afterwards.
  async draw() {
    if (!this.specs) return;
    this.stale = true;
    if (this.drawing) return;
    this.drawing = true;
    try {
      while (this.stale) {
        this.stale = false;
        await this.redraw();
      }
    } finally {
      this.drawing = false;
    }
  }

  async redraw() {
    const values = this.series.values();
    if (!values.length) return;
    const kind = `${this.view} by ${this.series.byPass ? "pass" : "rounds"}`;
    const reusable = this.drawn?.kind === kind && this.drawn.chart.view.width() > 0; // 0 if it was drawn while hidden
    if (!reusable) {
      this.drawn?.chart.finalize();
      this.drawn = null; // no values at the pointer until the new chart is drawn
      const padding = paddingOf(this.plot.clientWidth);
      const spec = { ...this.specs[this.view], ...passAxis(this.specs[this.view], this.series), padding, datasets: { points: values } };
      this.drawn = { kind, chart: await window.vegaEmbed(this.canvas, spec, OPTIONS) };
      this.drawn.chart.view.addResizeListener(() => requestAnimationFrame(() => this.labelEnds()));
    } else {
      await this.drawn.chart.view.data("points", values).resize().runAsync();
    }
    this.labelEnds();
    this.figure.dataset.drawn = this.view;
  }

  // Writes the name of every run at the end of its line, and what the line at zero is. Names that would overlap are moved apart.
  labelEnds() {
    if (!this.drawn || this.plot.hidden) return;
    const { left, top, width, height, scale, own } = this.frame();
    const valueScale = this.drawn.chart.view.scale("y");
    const places = this.series.lines.map((line) => {
      const [rounds, value] = line.points.at(-1);
      return { ...line, x: left + scale(rounds) + 7, y: top + valueScale(value) };
    });
    if (this.series.zero) places.push({ label: this.series.zero, colour: "reference", x: left + width + 7, y: top + valueScale(0) });
    places.sort((a, b) => a.y - b.y);
    const stacked = (place, index) => Math.max(place.y, index ? places[index - 1].y + LABEL_HEIGHT : -Infinity);
    places.forEach((place, index) => Object.assign(place, { y: stacked(place, index) }));
    let lowest = top + height;
    for (const place of [...places].reverse()) {
      place.y = Math.min(place.y, lowest);
      lowest = place.y - LABEL_HEIGHT;
    }
    const names = places.map(({ label, colour, x, y }) => {
      const name = element("span", { class: `end ${colour}` }, label);
      Object.assign(name.style, { left: `${(100 * x) / own.width}%`, top: `${(100 * y) / own.height}%` }); // shares survive print
      return name;
    });
    this.ends.replaceChildren(...names);
  }

  // Values at the pointer, or at the position that the arrow keys select

  listen() {
    this.plot.addEventListener("pointermove", (event) => this.point(event));
    this.plot.addEventListener("pointerleave", () => this.hide());
    this.plot.addEventListener("focus", () => this.plot.matches(":focus-visible") && this.showAt(this.position ?? Infinity));
    this.plot.addEventListener("blur", () => this.hide());
    this.plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      const ends = { Home: 0, End: Infinity };
      if (event.key === "Escape") this.hide();
      if (step === undefined && !(event.key in ends)) return;
      event.preventDefault();
      this.showAt(event.key in ends ? ends[event.key] : (this.position ?? this.series.rounds.length) + step);
    });
  }

  frame() {
    const { view } = this.drawn.chart;
    const svg = this.canvas.querySelector("svg").getBoundingClientRect();
    const own = this.plot.getBoundingClientRect();
    const [left, top] = view.origin();
    const padding = view.padding();
    return {
      left: svg.left - own.left + padding.left + left, top: svg.top - own.top + padding.top + top,
      width: view.width(), height: view.height(), scale: view.scale("x"), own,
    };
  }

  point(event) {
    if (!this.drawn || !this.series.rounds.length) return;
    const { left, width, scale, own } = this.frame();
    const x = event.clientX - own.left - left;
    if (x < -8) this.hide();
    else this.showAt(this.series.nearest(scale.invert(Math.min(width, Math.max(0, x)))));
  }

  showAt(index) {
    const { rounds } = this.series;
    if (!this.drawn || !rounds.length) return;
    this.position = Math.max(0, Math.min(rounds.length - 1, index));
    const now = rounds[this.position];
    const values = this.series.at(now);
    this.plot.setAttribute("aria-valuenow", this.position);
    const spoken = values.map(({ label, text }) => `${isolated(label)} ${text}`).join("; ");
    this.plot.setAttribute("aria-valuetext", `${this.series.position(now)}: ${spoken}`);
    this.tip.replaceChildren(
      element("p", {}, this.series.position(now)),
      ...values.map(({ label, text, colour, row }) =>
        element(
          "p", {}, element("span", { class: `swatch ${colour} ${row.role}` }), element("bdi", {}, label), element("b", {}, text),
        ),
      ),
    );
    this.rule.hidden = this.tip.hidden = false;
    this.placeTip(now);
  }

  placeTip(now) {
    const { left, top, width, height, scale } = this.frame();
    const x = left + scale(now);
    Object.assign(this.rule.style, { left: `${x}px`, top: `${top}px`, height: `${height}px` });
    const right = x > left + width / 2;
    const available = this.plot.clientWidth;
    const at = right ? Math.max(0, x - this.tip.offsetWidth - 12) : Math.min(x + 12, available - this.tip.offsetWidth);
    Object.assign(this.tip.style, { left: `${Math.max(0, at)}px`, top: `${top}px` });
  }

  hide() {
    this.rule.hidden = this.tip.hidden = true;
  }

  fillTable() {
    if (!this.details.open) return;
    const { series } = this;
    const columns = series.milestones();
    const head = element("tr", {}, element("th", { scope: "col" }, series.byPass ? "Pass" : "Rounds"));
    head.append(...columns.map((rounds) => element("th", { scope: "col", class: "number" }, whole(rounds))));
    const lines = series.lines.map((line) => {
      const name = element("th", { scope: "row" }, element("bdi", {}, line.label));
      const cells = columns.map((rounds) => (line.at.has(rounds) ? series.format(line.at.get(rounds)) : "–"));
      return element("tr", {}, name, ...cells.map((text) => element("td", { class: "number" }, text)));
    });
    const caption = element("caption", { class: "hidden" }, `${this.title}: ${series.quantity} by run and ${series.byPass ? "pass" : "rounds"}`);
    this.table.replaceChildren(caption, element("thead", {}, head), element("tbody", {}, ...lines));
  }
}

export class Charts {
  constructor() {
    this.charts = CHARTS.map((each) => new Chart(each));
    byId("charts").replaceChildren(...this.charts.map((chart) => chart.figure));
  }

  // Loads Vega and the charts; the table does not wait for them.
  async load() {
    try {
      const [specs] = await Promise.all([fetch("charts.json").then((response) => response.json()), loadScript("vega.js")]);
      for (const chart of this.charts) {
        chart.specs = specs;
        if (chart.shown) await chart.draw();
      }
    } catch (failure) {
      console.error(failure);
      for (const chart of this.charts) chart.canvas.textContent = "The chart cannot be drawn now. Its data are in the table below.";
    }
  }

  show(board, selected, state) {
    return Promise.all(this.charts.map((chart) => chart.show(board, selected, state)));
  }
}
