import { count, record } from './wire.js';

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

export const pagination = record<Pagination>({
  page: count,
  size: count,
  total: count,
  totalPages: count,
});
