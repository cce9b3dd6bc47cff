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

// Below each result of the search: the paragraph that has the words, cut around them.
const lengthOfContext = 110;
const contextOf = (paragraphs, words) => {
  const has = (text, word) => text.toLowerCase().includes(word);
  const found =
    paragraphs.find((text) => words.every((word) => has(text, word))) ??
    paragraphs.find((text) => words.some((word) => has(text, word))) ??
    paragraphs[0] ??
    '';
  const at = Math.max(0, found.toLowerCase().indexOf(words[0]) - lengthOfContext / 3);
  const begin = at === 0 ? 0 : found.indexOf(' ', at) + 1;
  const end = begin + lengthOfContext;
  return `${begin > 0 ? '… ' : ''}${found.slice(begin, end)}${end < found.length ? ' …' : ''}`;
};
const results = document.getElementById('tsd-search-results');
const showContexts = () => {
  const words = document.getElementById('tsd-search-input').value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const link of results.querySelectorAll('a:not(:has(small))')) {
    const path = link
      .getAttribute('href')
      .slice(document.documentElement.dataset.base.length)
      .replace(/^\//, '');
    const paragraphs = window.searchContexts?.[path];
    if (!paragraphs) continue;
    const line = document.createElement('small');
    line.textContent = contextOf(paragraphs, words);
    link.querySelector('.text').append(line);
  }
};
if (results) {
  const script = document.createElement('script');
  script.src = `${document.documentElement.dataset.base.replace(/\/?$/, '/')}assets/contexts.js`;
  script.addEventListener('load', () =>
    new MutationObserver(showContexts).observe(results, { childList: true }),
  );
  document.head.append(script);
}
