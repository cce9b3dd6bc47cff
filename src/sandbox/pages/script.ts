/** Script of every page. Each page works without it. */
export const script = `
  // A click submits a form once.
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = 'yes';
    setTimeout(() => delete form.dataset.sent, 3000);
  });

  // Copy buttons tell screen readers through a live region.
  const live = document.querySelector('[data-say]');
  if (navigator.clipboard) document.documentElement.classList.add('copies');
  document.addEventListener('click', async ({ target }) => {
    const button = target.closest('[data-copy]');
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    const before = button.textContent;
    live.textContent = button.textContent = 'Copied';
    setTimeout(() => { button.textContent = before; live.textContent = ''; }, 1500);
  });

  const poll = (path, show) => {
    const look = async () => {
      const response = document.hidden ? undefined : await fetch(path).catch(() => undefined);
      if (response) await show(response);
    };
    setInterval(look, 2000);
    document.addEventListener('visibilitychange', look);
  };

  // A page that Back restores shows an outdated checkout, so it reloads.
  if (document.querySelector('[data-of-checkout]'))
    addEventListener('pageshow', ({ persisted }) => { if (persisted) location.reload(); });

  // The payment page counts down, and is loaded again once its checkout's state has changed.
  const page = document.querySelector('[data-state]');
  if (page) {
    const { id, state, left, runs } = page.dataset;
    const countdown = document.querySelector('[data-countdown]');
    let end = performance.now() + Number(left);
    let before = 0;
    const tick = () => {
      const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
      const hours = Math.floor(seconds / 3600);
      const clock = new Date(seconds * 1000).toISOString().slice(11, 19).replace(/^00:0?|^0/, '');
      countdown.textContent = hours < 24 ? clock : Math.floor(hours / 24) + ' d ' + (hours % 24) + ' h';
      if (before > 0 && seconds === 0) live.textContent = 'The time to pay is up.';
      before = seconds;
    };
    if (runs === 'true') {
      tick();
      setInterval(tick, 1000);
    }
    poll('/pay/' + id + '/status', async (response) => {
      const now = await response.json();
      if (now.state !== state) return location.reload();
      end = performance.now() + now.leftMs;
    });
  }

  // Times are served in UTC, and shown in the browser's zone.
  const localise = (root) => {
    for (const time of root.querySelectorAll('time[data-form]')) {
      const at = new Date(time.dateTime);
      if (time.dataset.form === 'day') time.textContent = at.toLocaleTimeString();
      if (time.dataset.form === 'date') time.textContent = at.toLocaleString();
    }
  };
  // The dashboard replaces what has changed, except where somebody is reading or typing.
  const parts = [...document.querySelectorAll('[data-live]')];
  const served = new Map(parts.map((part) => [part, part.innerHTML]));
  localise(document);
  if (parts.length > 0)
    poll(location.href, async (response) => {
      if (!response.ok) return;
      const text = await response.text();
      const fresh = new DOMParser().parseFromString(text.slice(text.indexOf('<body>')), 'text/html');
      for (const part of parts) {
        const next = fresh.querySelector('[data-live="' + part.dataset.live + '"]');
        if (!next || next.innerHTML === served.get(part)) continue;
        if (part.contains(document.activeElement) || !getSelection().isCollapsed) continue;
        served.set(part, next.innerHTML);
        const open = [...part.querySelectorAll('details[open][id]')].map(({ id }) => id);
        part.replaceChildren(...next.childNodes);
        localise(part);
        for (const id of open) document.getElementById(id)?.setAttribute('open', '');
      }
    });
`;
