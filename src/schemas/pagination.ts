import * as z from 'zod/mini';

/** Position of a page in its list. Spec, "Pagination object". */
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

const count = z.int().check(z.nonnegative());

export const paginationSchema: z.ZodMiniType<Pagination> = z.looseObject({
  page: count,
  size: count,
  total: count,
  totalPages: count,
});
