import { isLoopback } from '../../schemas/url.js';

/** By which names a listening sandbox may be called. */
export interface HostRule {
  /** Port it listens on. */
  port: number;
  /** Whether it listens on loopback alone. */
  local: boolean;
  publicUrl: string | undefined;
  /** More host names, without port. */
  allowed: readonly string[];
}

/**
 * Whether a request's Host header names the sandbox. A name that an attacker's DNS leads to this machine does not
 * (DNS rebinding). Open to other machines, the documented API takes any name, as containers give it: its key guards it.
 */
export function hostAllowed(host: string | undefined, path: string, rule: HostRule): boolean {
  if (!rule.local && path.startsWith('/v1/')) return true;
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`)) return false;
  const url = new URL(`http://${host}`);
  if (rule.publicUrl !== undefined && url.host === new URL(rule.publicUrl).host) return true;
  if (Number(url.port || 80) !== rule.port) return false;
  return isLoopback(url) || rule.allowed.includes(url.hostname);
}
