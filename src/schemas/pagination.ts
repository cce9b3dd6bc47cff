import * as z from 'zod/mini';

/** Position of a page in its list. Spec, "Pagination object". */
export interface Pagination {
  /** The number of the page, from 1. */
  page: number;
  /** The number of items per page. */
  size: number;
  /** The number of items in the whole list. */
  total: number;
  /** The number of pages in the whole list. */
  totalPages: number;
}

const count = z.int().check(z.nonnegative());

export const paginationSchema: z.ZodMiniType<Pagination> = z.looseObject({
  page: count,
  size: count,
  total: count,
  totalPages: count,
});
