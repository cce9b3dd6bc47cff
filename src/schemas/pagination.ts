import * as z from 'zod/mini';
import { record } from './wire.js';

/** Where a page stands in its list. Spec, "Pagination object". */
export interface Pagination {
  /** 1-based. */
  page: number;
  /** Items per page. */
  size: number;
  /** Items in the whole list. */
  total: number;
  /** Pages in the whole list. */
  totalPages: number;
}

const count = z
  .int({ error: 'expected an integer' })
  .check(z.gte(0, { error: 'expected an integer of at least 0' }));

export const paginationSchema = record({
  page: count,
  size: count,
  total: count,
  totalPages: count,
}) satisfies z.ZodMiniType<Pagination>;
