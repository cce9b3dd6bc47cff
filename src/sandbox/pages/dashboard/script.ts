/** Updates the live parts while the page is open. Without script, reload. */
export const dashboardScript = `
(() => {
  const parts = () => document.querySelectorAll('[data-live]');
  const served = new Map();
  for (const part of parts()) served.set(part.dataset.live, part.innerHTML);
  const update = async () => {
    if (document.hidden || served.size === 0) return;
    const response = await fetch(location.href).catch(() => undefined);
    if (!response?.ok) return;
    const text = await response.text();
    const fresh = new DOMParser().parseFromString(text.slice(text.indexOf('<body>')), 'text/html');
    for (const part of parts()) {
      const name = part.dataset.live;
      const next = fresh.querySelector('[data-live="' + name + '"]');
      if (!next || next.innerHTML === served.get(name)) continue;
      if (part.contains(document.activeElement) || !getSelection().isCollapsed) continue;
      served.set(name, next.innerHTML);
      const open = [...part.querySelectorAll('details[open][id]')].map(({ id }) => id);
      part.replaceChildren(...next.childNodes);
      for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    }
  };
  setInterval(update, 2000);
  document.addEventListener('visibilitychange', update);
})();
`;
