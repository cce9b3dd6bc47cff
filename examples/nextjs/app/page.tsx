export default function Shop() {
  return (
    <form action="/buy" method="post">
      <button type="submit">Buy a mug for $19.90</button>
    </form>
  );
}
