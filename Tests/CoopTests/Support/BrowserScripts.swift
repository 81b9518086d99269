/// Expressions that examine a page.
enum BrowserScripts {
  /// Each text that is shown, with the contrast between its color and its background.
  ///
  /// The formula is that of WCAG 2.1, whose level AA requires 4.5.
  static let contrasts = """
    (() => {
      const channels = (color) => color.match(/[\\d.]+/g).map(Number);
      const light = (color) => {
        const [red, green, blue] = channels(color).map((channel) => {
          const part = channel / 255;
          return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const rgb = (color) => channels(color).slice(0, 3);
      const text = (channels) => `rgb(${channels.join()})`;
      const pictureOf = (label) => label.ownerSVGElement.ownerSVGElement ?? label.ownerSVGElement;
      // The colors that the shapes of a picture can have at a point behind a text.
      const painted = (label, x, y) => {
        const over = (style, below) => {
          const alpha = style.opacity * style.fillOpacity * (channels(style.fill)[3] ?? 1);
          return below.map((channel, index) => channel + alpha * (rgb(style.fill)[index] - channel));
        };
        const picture = pictureOf(label);
        const follows = (shape) =>
          shape.compareDocumentPosition(label) & Node.DOCUMENT_POSITION_FOLLOWING;
        let colors = [rgb(background(picture))];
        for (const shape of picture.querySelectorAll("rect:not(pattern rect)")) {
          const box = shape.getBoundingClientRect();
          if (!follows(shape) || x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
          const style = getComputedStyle(shape);
          const pattern = style.fill.match(/#[^")]+/)?.[0];
          if (pattern) {
            // One of the parts, or what is below them.
            let below = colors;
            for (const part of document.querySelectorAll(pattern + " rect")) {
              below = below.map((color) => over(getComputedStyle(part), color));
              const isWhole = part.getAttribute("width") === part.parentNode.getAttribute("width");
              colors = isWhole ? below : [...colors, ...below];
            }
          } else if (style.fill !== "none") {
            colors = colors.map((color) => over(style, color));
          }
        }
        return colors.map(text);
      };
      const backgrounds = (element) => {
        if (element.localName !== "text") return [background(element)];
        const box = element.getBoundingClientRect();
        // A part of a picture cuts its text.
        const [part, picture] = [element.ownerSVGElement, pictureOf(element)];
        const end = part === picture ? box.right : Math.min(box.right,
          picture.getBoundingClientRect().left + part.x.baseVal.value + part.width.baseVal.value);
        return [0.02, 0.5, 0.98].flatMap((share) =>
          painted(element, box.left + share * (end - box.left), box.top + box.height / 2));
      };
      const background = (element) => {
        for (let at = element; at; at = at.parentElement) {
          const color = getComputedStyle(at).backgroundColor;
          const alpha = channels(color)[3] ?? 1;
          if (alpha === 1) return color;
          if (alpha > 0) throw Error("partly transparent: " + color);
        }
        return "rgb(255, 255, 255)";
      };
      const texts = [];
      const root = document.body ?? document.documentElement;
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const text = walker.currentNode.data.trim();
        const element = walker.currentNode.parentElement;
        const isPicture = element instanceof SVGElement;
        if (text && element.checkVisibility() && (!isPicture || element.localName === "text")) {
          texts.push([text, element, null]);
        }
      }
      for (const element of document.querySelectorAll("input:not([type=hidden]), select")) {
        texts.push([element.id, element, null]);
      }
      for (const element of document.querySelectorAll(".state, .live")) {
        texts.push([element.textContent + " (mark)", element, "::before"]);
      }
      return texts.map(([text, element, part]) => {
        const style = getComputedStyle(element, part);
        const one = light(element instanceof SVGElement ? style.fill : style.color);
        const contrasts = backgrounds(element).map(light).map((other) =>
          (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
        return [text.slice(0, 40), Math.min(...contrasts)];
      });
    })()
    """

  /// The faults in the structure of a page.
  static let structure = """
    (() => {
      const faults = [];
      const all = (selector) => [...document.querySelectorAll(selector)];
      const expect = (isTrue, fault) => { if (!isTrue) faults.push(fault); };
      expect(document.documentElement.lang === "en", "no language");
      expect(document.title !== "", "no title");
      expect(all("h1").length === 1, "not one h1");
      expect(all("main").length === 1 && all("header").length === 1, "no landmarks");
      let level = 0;
      for (const heading of all("h1, h2, h3, h4")) {
        expect(Number(heading.localName[1]) <= level + 1, "skipped level: " + heading.textContent);
        level = Number(heading.localName[1]);
      }
      for (const field of all("input:not([type=hidden]), select, textarea")) {
        expect(field.labels.length === 1, "no label: " + field.name);
      }
      for (const image of all("img")) expect(image.alt !== "", "no alternative text");
      const names = all("[id]").map((element) => element.id);
      expect(new Set(names).size === names.length, "the same identifier twice");
      for (const cell of all("th")) expect(cell.scope !== "", "no scope: " + cell.textContent);
      return faults;
    })()
    """
}
