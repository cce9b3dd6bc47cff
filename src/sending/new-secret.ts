import { randomBytes } from 'node:crypto';
import type { SignatureScheme } from '../webhooks/index.js';

/** Characters that nobody can guess. */
export const randomText = (): string => randomBytes(10).toString('hex');

/** A secret that nobody knows, in the form that a scheme reads. */
export const newSecret = ({ secretEncoding }: Partial<SignatureScheme>): string =>
  secretEncoding === 'hex' ? randomText() : `whsec_${randomText()}`;
