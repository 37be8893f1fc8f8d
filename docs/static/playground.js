// Recorded runs, from which sliders choose. docs/playground_runs.py writes files that call `playground` with the runs.
"use strict";

function playground(name, data) {
  document.querySelectorAll(`.playground[data-name="${name}"]`).forEach((place) => build(place, data));

  // Numbers [m] of a text: 16-bit whole numbers of data.unit.
  function numbers(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return Array.from(new Int16Array(bytes.buffer), (number) => number * data.unit);
  }

  function pairs(list) {
    return Array.from({ length: list.length / 2 }, (_, k) => [list[2 * k], list[2 * k + 1]]);
  }

  function build(place, data) {
    const [left, bottom, right, top] = data.box;
    const canvas = place.appendChild(document.createElement("canvas"));
    const said = place.appendChild(document.createElement("p"));
    const sliders = data.sliders.map(addSlider);
    const button = place.appendChild(document.createElement("button"));
    said.setAttribute("aria-live", "polite");
    let run, shown, playing = !matchMedia("(prefers-reduced-motion: reduce)").matches, start = performance.now();

    // The first slider starts in its middle, the others at their least values.
    function addSlider({ name, values }, index) {
      const label = place.appendChild(document.createElement("label"));
      const text = label.appendChild(document.createElement("span"));
      const input = label.appendChild(document.createElement("input"));
      Object.assign(input, { type: "range", min: 0, max: values.length - 1, value: index ? 0 : values.length >> 1 });
      input.addEventListener("input", choose);
      return { input, values, write: () => (text.textContent = `${name}: ${values[input.value]}`) };
    }

    // Unpack the run that the sliders choose, and play it from the start.
    function choose() {
      let index = 0;
      for (const { input, values, write } of sliders) {
        index = index * values.length + Number(input.value);
        write();
      }
      run = data.runs[index];
      shown = {};
      for (const key of ["frames", "curve", "exact"]) if (run[key]) shown[key] = pairs(numbers(run[key]));
      said.textContent = run.said;
      start = performance.now();
      draw(start);
    }

    function colour(name) {
      return getComputedStyle(document.documentElement).getPropertyValue(`--pst-color-${name}`) || "#777";
    }

    function draw(now) {
      canvas.width = canvas.clientWidth * devicePixelRatio;
      canvas.height = canvas.width / data.aspect;
      const pen = canvas.getContext("2d");
      const across = canvas.width / (right - left), down = canvas.height / (top - bottom);
      const at = ([x, y]) => [(x - left) * across, (top - y) * down];
      const seconds = playing ? (now - start) / 1000 : 0;

      function line(points, style, width) {
        pen.beginPath();
        points.forEach((point, k) => (k ? pen.lineTo(...at(point)) : pen.moveTo(...at(point))));
        Object.assign(pen, { strokeStyle: style, lineWidth: width * devicePixelRatio, lineJoin: "round" });
        pen.stroke();
      }

      function dots(points, style, radius) {
        pen.fillStyle = style;
        for (const point of points) {
          pen.beginPath();
          pen.arc(...at(point), radius * devicePixelRatio, 0, 2 * Math.PI);
          pen.fill();
        }
      }

      if (data.circle) {
        pen.beginPath();
        pen.arc(...at([0, 0]), data.circle * across, 0, Math.PI);
        Object.assign(pen, { strokeStyle: colour("border"), lineWidth: devicePixelRatio });
        pen.stroke();
      }
      if (shown.frames) {
        const count = data.points, frame = Math.floor(seconds * data.rate) % (shown.frames.length / count);
        const points = shown.frames.slice(frame * count, (frame + 1) * count);
        line(points, colour("primary"), 2);
        dots(points, colour("primary"), 3);
      } else {
        line([[left, 0], [right, 0]], colour("border"), 1);
        line(shown.exact, colour("text-muted"), 1.5);
        line(shown.curve, colour("primary"), 2);
        dots(shown.curve, colour("primary"), 2.5);
        const time = seconds % shown.curve[shown.curve.length - 1][0];
        dots(shown.curve.filter(([t]) => t <= time).slice(-1), colour("secondary"), 6);
      }
    }

    function animate(now) {
      const { top, bottom } = canvas.getBoundingClientRect();
      if (playing && bottom > 0 && top < innerHeight) draw(now);
      requestAnimationFrame(animate);
    }

    function write() {
      button.textContent = playing ? "stop" : "play";
    }

    button.addEventListener("click", () => {
      playing = !playing;
      start = performance.now();
      write();
      draw(start);
    });
    addEventListener("resize", () => draw(performance.now()));
    write();
    choose();
    requestAnimationFrame(animate);
  }
}
