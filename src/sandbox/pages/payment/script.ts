/** Adds a countdown and automatic redirects to the payment page, which works without script. */
export const payScript = `
(() => {
  addEventListener('pageshow', (shown) => { if (shown.persisted) location.reload(); });

  const page = document.querySelector('[data-state]');
  if (!page) return;
  const live = document.querySelector('[data-say]');

  const shown = (seconds) => {
    const hours = Math.floor(seconds / 3600);
    if (hours >= 24) return Math.floor(hours / 24) + ' d ' + (hours % 24) + ' h';
    return new Date(seconds * 1000).toISOString().slice(11, 19).replace(/^00:0?|^0/, '');
  };
  let end = performance.now() + Number(page.dataset.left);
  let before = Infinity;
  const tick = () => {
    const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    document.querySelector('[data-countdown]').textContent = shown(seconds);
    for (const [limit, text] of [[300, live.dataset.minutes], [60, live.dataset.minute], [0, live.dataset.up]])
      if (before > limit && seconds <= limit && before !== Infinity) live.textContent = text;
    before = seconds;
  };
  if (page.dataset.runs === 'true') setInterval(tick, 1000);

  const look = async () => {
    if (document.hidden) return;
    const response = await fetch('/pay/' + page.dataset.id + '/status').catch(() => undefined);
    if (!response) return;
    const { state, leftMs } = await response.json();
    if (state !== page.dataset.state) return location.reload();
    end = performance.now() + leftMs;
  };
  setInterval(look, 2000);
  document.addEventListener('visibilitychange', look);
})();
`;
