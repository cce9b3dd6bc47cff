/** Style of the payment page. It has one column on phones; from 720 px the product is beside the payment form. */
export const payStyle = `
  .split { flex: 1; display: grid; grid-template-rows: auto 1fr }
  .column { width: 100%; max-width: 27rem; margin: 0 auto; padding: 1.25rem 1.25rem 1.75rem }
  .paying { background: var(--surface); border-top: 1px solid var(--line) }

  .back, .plain { min-height: 2.75rem; border: 0; background: none; font: inherit; font-weight: 550; cursor: pointer }
  .back {
    display: inline-flex; align-items: center; gap: .5rem; margin: 0 0 .5rem -.375rem; padding: .375rem;
    border-radius: .5rem; color: var(--soft); text-align: start;
  }

  .product { display: flex; gap: 1rem; align-items: center; padding: 1rem; box-shadow: var(--shadow) }
  .picture {
    position: relative; flex: none; display: grid; place-items: center; width: 5rem; aspect-ratio: 1; overflow: hidden;
    border-radius: .75rem; background: var(--accent-wash); color: var(--accent);
  }
  .picture img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover }
  .product h1 { font-size: 1.0625rem; font-weight: 600; letter-spacing: -.01em; line-height: 1.35 }
  .amount { font-size: 1.625rem; font-weight: 700; letter-spacing: -.025em; line-height: 1.25 }
  .currency { font-size: .6em; font-weight: 600; letter-spacing: 0; color: var(--soft) }
  .description {
    display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden;
    margin-top: .375rem; color: var(--soft); font-size: .9375rem;
  }
  .expiry { display: flex; align-items: center; gap: .4rem; margin-top: .875rem; color: var(--soft) }

  .methods .group { margin-top: .875rem; border: 1px solid var(--line); border-radius: .875rem; background: var(--raised) }
  .method + .method { border-top: 1px solid var(--line) }
  .method label { display: flex; align-items: center; gap: .75rem; min-height: 3.25rem; padding: .5rem 1rem; cursor: pointer; font-weight: 550 }
  .method > label .icon { color: var(--soft) }
  .method:has(> label > input:checked) > label .icon { color: var(--accent) }
  input[type=radio] { flex: none; width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent); cursor: pointer }
  .cards, .method > p { padding: 0 1rem 1rem 3rem }
  .cards { display: grid; gap: .5rem }
  .cards label { min-height: 2.75rem; padding: .375rem .75rem; border: 1px solid var(--line); border-radius: .625rem; font-weight: 450 }
  .cards label:has(:checked) { border-color: var(--accent); background: var(--accent-wash) }
  .digits { white-space: nowrap }
  .outcome { margin-inline-start: auto; font-size: .875rem; font-weight: 550; text-align: end; overflow-wrap: break-word }
  .good { color: var(--good) }
  .bad { color: var(--bad) }

  .wide { width: 100% }
  .methods ~ .primary { min-height: 3.25rem; margin-top: 1.25rem; font-size: 1.0625rem }
  .method:not(:has(> label > input:checked)) > :not(label),
  form:not(:has([value=card]:checked)) .for-card, form:not(:has([value=walletA]:checked)) .for-walletA, form:not(:has([value=walletB]:checked)) .for-walletB { display: none }

  .notice p { color: var(--ink); font-size: .9375rem }
  .notice a { display: inline-block; padding-block: .375rem; color: inherit }

  .waiting { text-align: center; text-wrap: balance }
  .qr { display: block; width: 200px; height: 200px; margin: 1.25rem auto; border-radius: .75rem; outline: 1px solid var(--line) }
  .address {
    display: flex; align-items: center; justify-content: space-between; gap: .75rem; padding: .5rem .5rem .5rem .875rem; margin-bottom: .5rem;
    border: 1px solid var(--line); border-radius: .75rem; background: var(--ground); font-size: .875rem; text-align: start;
  }
  .address a { flex: 1; min-height: 2.75rem; display: flex; align-items: center }
  .or { display: flex; align-items: center; gap: .75rem; margin: 1.5rem 0 .875rem; color: var(--soft); font-size: .875rem; font-weight: 550; letter-spacing: 0 }
  .or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line) }
  .pair { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem }
  .plain { margin-top: .75rem; padding: .5rem 1rem; color: var(--accent) }

  .developer { margin-top: 2rem; border-top: 1px solid var(--line); font-size: .875rem }
  .developer summary { padding: .75rem 0; min-height: 2.75rem; color: var(--soft); font-weight: 550; cursor: pointer }
  .developer form { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: 1rem }

  .note { flex: 1; display: grid; place-items: center; padding: 1.5rem 1.25rem 4rem }
  .panel { width: 100%; max-width: 26rem; padding: 2.25rem 1.75rem; box-shadow: var(--shadow); text-align: center; text-wrap: balance }
  .panel h1, .waiting h2 { font-size: 1.5rem; margin-bottom: .5rem }
  .badge { display: grid; place-items: center; width: 4rem; height: 4rem; margin: 0 auto 1.25rem; border-radius: 50%; background: var(--ground); color: var(--soft) }
  .receipt { margin-top: 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); text-align: start }
  .receipt dd { text-align: end }
  .ways, .ways form { display: grid; gap: .75rem }
  .ways { margin-top: 1.75rem }
  .ways:empty { display: none }

  @media (max-width: 379px) {
    .cards, .method > p { padding-inline-start: 1rem }
  }
  @media (min-width: 720px) {
    .split { grid-template: none; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) }
    .column { max-width: 30rem; padding: 3rem clamp(2.5rem, 5vw, 3.5rem) }
    .paying .column { max-width: 33rem; margin-inline: 0 auto }
    .sold .column { margin-inline: auto 0 }
    .paying { border-top: 0; border-inline-start: 1px solid var(--line) }
    .back { margin-bottom: 1.25rem }
    .product { display: block; padding: 1.25rem }
    .picture { margin-bottom: 1.125rem }
    .pictured .picture { width: 100%; aspect-ratio: 4 / 3 }
    .amount { margin-top: .25rem; font-size: 2.25rem }
    .product h1 { font-size: 1.1875rem }
    .qr { width: 240px; height: 240px }
  }
`;
