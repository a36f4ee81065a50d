import { hash, timingSafeEqual } from 'node:crypto';
import { isRawNumber } from './raw-json.ts';

/** SHA-256 as 64 hex digits. */
export const sha256Hex = (content: string | Uint8Array): string => hash('sha256', content, 'hex');

/** Compares in constant time. Texts of different length are unequal. */
export function equalInConstantTime(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** JSON with members in code-point order at every depth: one text for one value, whatever order it was written in. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (value === null || typeof value !== 'object' || isRawNumber(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
