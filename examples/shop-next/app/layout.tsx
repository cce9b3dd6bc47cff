import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { style } from '../../shop/pages.ts';

// The address of an order's page holds its token, which no other site may see.
export const metadata: Metadata = { title: 'North & Pine', referrer: 'same-origin' };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <head>
        <style>{style}</style>
      </head>
      <body>
        <header>
          <a href="/">North &amp; Pine</a>
        </header>
        <main>{children}</main>
        <footer>
          Behind the counter: <a href="/orders">orders of this shop</a>
        </footer>
      </body>
    </html>
  );
}
