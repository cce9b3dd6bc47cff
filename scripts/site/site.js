// Tables and code that are wider than the screen can be scrolled by keyboard, and tables say that they scroll.
const mark = () => {
  let number = 0;
  for (const box of document.querySelectorAll(
    '.scrolls, .tsd-typography pre, .tsd-typography p:has(> img)',
  )) {
    const wide = box.scrollWidth > box.clientWidth;
    box.classList.toggle('wide', wide);
    if (!wide) {
      for (const name of ['tabindex', 'role', 'aria-label']) box.removeAttribute(name);
      continue;
    }
    number += 1;
    const kind = box.matches('.scrolls') ? 'Table' : box.matches('pre') ? 'Code' : 'Picture';
    box.setAttribute('tabindex', '0');
    box.setAttribute('role', 'region');
    box.setAttribute('aria-label', `${kind} ${number}, scrolls sideways`);
  }
};
// The body is hidden until typedoc has started, and has no width before.
new ResizeObserver(mark).observe(document.body);
