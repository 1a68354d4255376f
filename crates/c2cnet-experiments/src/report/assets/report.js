// The page of a run: colours, contents, sorting, enlarging, galleries and curves.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);
  const dataOf = (figure) => {
    const script = one('script[type="application/json"]', figure);
    return script ? JSON.parse(script.textContent) : null;
  };

  // --- Colours: as the system, until the reader chooses; the choice is kept where that is allowed.
  const root = document.documentElement;
  const themes = { auto: ["◐", "Colours: as the system"], light: ["☀", "Colours: light"], dark: ["☾", "Colours: dark"] };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = {
    get: () => { try { return localStorage.getItem("c2cnet-theme"); } catch { return null; } },
    set: (theme) => { try { localStorage.setItem("c2cnet-theme", theme); } catch { /* not kept */ } },
  };
  let theme = kept.get() in themes ? kept.get() : "auto";
  const toggle = one(".theme");
  const dress = () => {
    if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
    const [sign, words] = themes[theme];
    toggle.textContent = sign;
    toggle.title = words;
    toggle.setAttribute("aria-label", words);
  };
  toggle.addEventListener("click", () => {
    // The first click always changes what is seen.
    const other = system.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
    theme = other[(other.indexOf(theme) + 1) % 3];
    kept.set(theme);
    dress();
  });
  dress();

  // --- Contents: folded on narrow screens, the section in view is marked.
  const list = one(".contents details");
  const narrow = matchMedia("(max-width: 900px)");
  const fold = () => { list.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  const links = new Map(all(".contents li a").map((a) => [a.getAttribute("href").slice(1), a]));
  for (const link of links.values()) link.addEventListener("click", fold);
  const sections = all("main > section");
  const mark = () => {
    let here = null;
    for (const section of sections) if (section.getBoundingClientRect().top < innerHeight * 0.35) here = section.id;
    for (const [id, link] of links) {
      link.classList.toggle("here", id === here);
      if (id === here) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    }
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();

  // --- Tables: a click on a column sorts by it, another turns the order; no value comes last.
  for (const table of all("table.sortable")) {
    const heads = all("th", table);
    const body = one("tbody", table);
    heads.forEach((head, column) => one("button", head).addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const numeric = head.classList.contains("n");
      const key = (row) => {
        const cell = row.cells[column];
        if (!numeric) return cell.textContent.trim();
        return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
      };
      const compare = (a, b) => {
        if (a === null || b === null) return (a === null) - (b === null);
        const order = numeric ? a - b : a.localeCompare(b, undefined, { numeric: true });
        return down ? -order : order;
      };
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort((a, b) => compare(a[0], b[0]));
      body.append(...rows.map((pair) => pair[1]));
    }));
  }

  // --- Figures: a click enlarges.
  const dialog = one("dialog.zoom");
  document.addEventListener("click", (event) => {
    const plate = event.target.closest("[data-zoom]");
    if (!plate) return;
    const image = one("img", plate);
    if (!image.src) return;
    one("img", dialog).src = image.src;
    one("img", dialog).alt = image.alt;
    dialog.showModal();
  });
  dialog.addEventListener("click", () => dialog.close());

  // --- Galleries: a picture is unpacked when it is first shown.
  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const svg = await new Response(stream).arrayBuffer();
    return URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  };
  const whenSeen = (figure, start) => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      start();
    }, { rootMargin: "600px" });
    observer.observe(figure);
    addEventListener("beforeprint", () => { observer.disconnect(); start(); }, { once: true });
  };
  for (const figure of all("figure.gallery")) {
    const samples = dataOf(figure);
    if (!samples) continue;
    const slider = one("input", figure);
    const image = one("img", figure);
    const steps = all(".step", figure);
    const errors = samples.map((sample) => Math.log10(sample.rl2e > 0 ? sample.rl2e : NaN));
    const known = errors.filter(Number.isFinite);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const bars = samples.map((_, k) => {
      const bar = document.createElement("i");
      const part = high > low ? (errors[k] - low) / (high - low) : 0;
      bar.style.height = `${15 + 85 * (Number.isFinite(part) ? part : 0)}%`;
      return bar;
    });
    one(".bars", figure).append(...bars);
    const show = async () => {
      const k = Number(slider.value);
      const sample = samples[k];
      bars.forEach((bar, j) => bar.classList.toggle("here", j === k));
      steps[0].disabled = k === 0;
      steps[1].disabled = k === samples.length - 1;
      one(".reading", figure).textContent = `${k + 1} of ${samples.length}: ${sample.words}`;
      slider.setAttribute("aria-valuetext", sample.words);
      sample.url ??= unpack(sample.svg);
      const url = await sample.url;
      if (Number(slider.value) !== k) return;
      image.src = url;
      image.alt = sample.words;
    };
    slider.addEventListener("input", show);
    const go = (k) => {
      slider.value = k;
      show();
    };
    for (const step of steps) step.addEventListener("click", () => go(Number(slider.value) + Number(step.dataset.step)));
    // Arrows work anywhere in the gallery; the slider has its own.
    figure.addEventListener("keydown", (event) => {
      if (event.target === slider) return;
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      go(Number(slider.value) + by);
    });
    one(".reading", figure).textContent = "";
    whenSeen(figure, show);
  }

  // --- Curves: drawn at the width there is; hover, touch or arrow keys read values.
  const NS = "http://www.w3.org/2000/svg";
  const make = (name, attributes, text) => {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  // Subscripts _{...} and superscripts ^{...}, in an element of either kind.
  const rich = (element, text) => {
    const inSvg = element.namespaceURI === NS;
    let shifted = 0;
    text.split(/([_^]\{[^}]*\})/).forEach((part) => {
      const script = /^([_^])\{(.*)\}$/.exec(part);
      if (!inSvg) {
        element.append(script ? Object.assign(document.createElement(script[1] === "_" ? "sub" : "sup"), { textContent: script[2] }) : part);
        return;
      }
      const shift = script ? (script[1] === "_" ? 3 : -5) : 0;
      element.append(make("tspan", { dy: shift - shifted, ...(script ? { "font-size": "75%" } : {}) }, script ? script[2] : part));
      shifted = shift;
    });
    return element;
  };
  const DASHES = ["", "7 4", "2 4", "10 4 2 4"];
  const colour = (k) => `var(--s${k % 7})`;
  const written = (v) => {
    if (v === 0) return "0";
    const size = Math.abs(v);
    if (size >= 1e-3 && size < 1e6) return String(Number(v.toPrecision(4)));
    return v.toExponential(2).replace("e+", "e");
  };
  const steps = (low, high, count) => {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((m) => m * power >= rough) * power;
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(Number((k * step).toPrecision(12)));
    return ticks;
  };
  const SUPER = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  // An axis turns values into a part of its length.
  const axis = (spec, values, room) => {
    const usable = values.filter((v) => Number.isFinite(v) && (!spec.log || v > 0));
    const at = spec.log ? Math.log10 : (v) => v;
    let low = at(Math.min(...usable));
    let high = at(Math.max(...usable));
    if (!(high > low)) { const by = spec.log ? 0.5 : Math.abs(low) * 0.1 || 1; low -= by; high += by; }
    const pad = room * (high - low);
    low -= pad;
    high += pad;
    const place = (v) => (v === null || (spec.log && !(v > 0)) ? NaN : (at(v) - low) / (high - low));
    const ticks = (count) => {
      if (!spec.log) return steps(low, high, count).map((v) => [v, written(v)]);
      const decades = [];
      for (let d = Math.ceil(low); d <= high; d++) decades.push(d);
      if (decades.length < 2) {
        let between = [];
        for (let d = Math.floor(low); d <= high; d++) between.push(...[1, 2, 5].map((m) => Number(`${m}e${d}`)));
        between = between.filter((v) => at(v) >= low && at(v) <= high);
        // Too few of these: steps as on a straight axis.
        if (between.length < 3) between = steps(10 ** low, 10 ** high, count);
        return between.filter((v) => v > 0).map((v) => [v, written(v)]);
      }
      const every = Math.ceil(decades.length / count);
      return decades.filter((d) => d % every === 0).map((d) => [10 ** d, "10" + [...String(d)].map((c) => SUPER[c]).join("")]);
    };
    return { place, ticks };
  };

  const drawn = [];
  for (const figure of all("figure.curve")) {
    const data = dataOf(figure);
    if (!data) continue;
    const plot = one(".plot", figure);
    const hidden = new Set();
    const dash = (s, k) => (s.dashed ? "7 4" : DASHES[Math.floor(k / 7) % DASHES.length]);
    let geometry = null;

    const points = (s, g) => s.x.map((x, i) => [g.left + g.across.place(x) * g.width, g.top + (1 - g.up.place(s.y[i])) * g.height]);
    const draw = () => {
      const total = plot.clientWidth || 640;
      const small = total < 480;
      const g = { left: small ? 52 : 64, top: 10, right: 14, bottom: 46 };
      g.width = total - g.left - g.right;
      g.height = Math.round(Math.min(340, Math.max(220, 0.56 * g.width)));
      const shown = data.series.filter((_, k) => !hidden.has(k));
      const whole = shown.length ? shown : data.series;
      g.across = axis(data.x, whole.flatMap((s) => s.x.filter((v, i) => v !== null && s.y[i] !== null)), 0.02);
      g.up = axis(data.y, whole.flatMap((s) => s.y.filter((v) => v !== null)), 0.06);
      const height = g.top + g.height + g.bottom;
      const svg = make("svg", { viewBox: `0 0 ${total} ${height}`, width: total, height });
      for (const [v, text] of g.across.ticks(small ? 4 : 7)) {
        const x = g.left + g.across.place(v) * g.width;
        if (!(x >= g.left - 1 && x <= g.left + g.width + 1)) continue;
        svg.append(make("line", { x1: x, x2: x, y1: g.top, y2: g.top + g.height, class: "rule" }));
        svg.append(make("text", { x, y: g.top + g.height + 17, "text-anchor": "middle" }, text));
      }
      for (const [v, text] of g.up.ticks(6)) {
        const y = g.top + (1 - g.up.place(v)) * g.height;
        if (!(y >= g.top - 1 && y <= g.top + g.height + 1)) continue;
        svg.append(make("line", { x1: g.left, x2: g.left + g.width, y1: y, y2: y, class: "rule" }));
        svg.append(make("text", { x: g.left - 8, y: y + 4, "text-anchor": "end" }, text));
      }
      svg.append(make("path", { d: `M${g.left} ${g.top}V${g.top + g.height}H${g.left + g.width}`, class: "frame" }));
      svg.append(rich(make("text", { x: g.left + g.width / 2, y: height - 8, "text-anchor": "middle", class: "name" }), data.x.title));
      const middle = g.top + g.height / 2;
      svg.append(rich(make("text", { x: 12, y: middle, transform: `rotate(-90 12 ${middle})`, "text-anchor": "middle", class: "name" }), data.y.title));
      data.series.forEach((s, k) => {
        if (hidden.has(k)) return;
        let path = "";
        let pen = false;
        const at = points(s, g);
        for (const [x, y] of at) {
          const drawable = Number.isFinite(x) && Number.isFinite(y);
          if (drawable) path += `${pen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
          pen = drawable;
        }
        const line = make("path", { d: path, class: "line", "stroke-dasharray": dash(s, k) });
        line.style.stroke = colour(k);
        if (data.bars) Object.assign(line.style, { fill: colour(k), fillOpacity: 0.25 });
        svg.append(line);
        if (data.bars || at.length > 24) return;
        for (const [x, y] of at) {
          if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
          const dot = make("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: at.length === 1 ? 6 : 3.2 });
          dot.style.fill = colour(k);
          svg.append(dot);
        }
      });
      g.cursor = make("g", { visibility: "hidden" });
      svg.append(g.cursor);
      plot.replaceChildren(svg);
      geometry = g;
    };

    // All abscissae that are shown, for the keyboard.
    const stops = () => [...new Set(data.series.flatMap((s, k) => (hidden.has(k) ? [] : s.x.filter((x, i) => x !== null && s.y[i] !== null))))].sort((a, b) => a - b);
    let current = null;
    const read = (x) => {
      const g = geometry;
      current = x;
      one(".tip", plot)?.remove();
      g.cursor.replaceChildren();
      g.cursor.setAttribute("visibility", x === null ? "hidden" : "visible");
      if (x === null) return;
      const px = g.left + g.across.place(x) * g.width;
      g.cursor.append(make("line", { x1: px, x2: px, y1: g.top, y2: g.top + g.height, class: "cursor" }));
      const tip = document.createElement("div");
      tip.className = "tip";
      tip.append(rich(document.createElement("b"), `${data.x.title} ${written(x)}`));
      data.series.forEach((s, k) => {
        if (hidden.has(k)) return;
        // The nearest point of this series, if it is near.
        let best = -1;
        let gap = Infinity;
        s.x.forEach((v, i) => {
          const d = Math.abs(g.across.place(v) - g.across.place(x)) * g.width;
          if (d < gap && s.y[i] !== null && Number.isFinite(g.up.place(s.y[i]))) { gap = d; best = i; }
        });
        if (best < 0 || gap > Math.max(12, g.width / 40)) return;
        const [cx, cy] = points(s, g)[best];
        const dot = make("circle", { cx, cy, r: 4.5 });
        dot.style.fill = colour(k);
        g.cursor.append(dot);
        const row = document.createElement("div");
        const sign = document.createElement("i");
        sign.style.background = colour(k);
        row.append(sign, rich(document.createElement("span"), s.name || data.y.title), Object.assign(document.createElement("span"), { textContent: written(s.y[best]) }));
        tip.append(row);
      });
      plot.append(tip);
      const free = px + 14 + tip.offsetWidth <= plot.clientWidth;
      tip.style.left = `${Math.max(0, free ? px + 14 : px - 14 - tip.offsetWidth)}px`;
      tip.style.top = `${g.top + 4}px`;
    };
    const nearest = (event) => {
      const g = geometry;
      const px = event.clientX - plot.getBoundingClientRect().left;
      let best = null;
      let gap = Infinity;
      for (const x of stops()) {
        const d = Math.abs(g.left + g.across.place(x) * g.width - px);
        if (d < gap) { gap = d; best = x; }
      }
      read(best);
    };
    plot.addEventListener("pointermove", nearest);
    plot.addEventListener("pointerdown", nearest);
    plot.addEventListener("pointerleave", () => read(null));
    plot.addEventListener("blur", () => read(null));
    plot.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const at = stops();
      const k = current === null ? (by > 0 ? -1 : at.length) : at.indexOf(current);
      read(at[Math.min(at.length - 1, Math.max(0, k + by))]);
    });

    const legend = one(".legend", figure);
    data.series.forEach((s, k) => {
      if (!s.name) return;
      const entry = document.createElement("button");
      entry.type = "button";
      entry.setAttribute("aria-pressed", "true");
      entry.title = "show or hide";
      const sample = make("svg", { viewBox: "0 0 30 12", "aria-hidden": "true" });
      const line = s.x.length === 1 ? make("circle", { cx: 15, cy: 6, r: 5 }) : make("path", { d: "M1 6H29", "stroke-width": 2.5, "stroke-dasharray": dash(s, k) });
      line.style[s.x.length === 1 ? "fill" : "stroke"] = colour(k);
      sample.append(line);
      entry.append(sample, rich(document.createElement("span"), s.name));
      entry.addEventListener("click", () => {
        if (!hidden.delete(k)) hidden.add(k);
        entry.setAttribute("aria-pressed", String(!hidden.has(k)));
        draw();
      });
      legend.append(entry);
    });
    draw();
    drawn.push(draw);
  }
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const draw of drawn) draw();
  });
})();
