// What a provider signs or hides, so that it can tell later that it came from it: the same text has the same signature.
import { createHash } from 'node:crypto';

export const signatureOf = (text: string): string =>
  createHash('sha256').update(`signed by the simulator: ${text}`).digest('base64');

/** Reasoning that its provider alone can read. */
export const redactedReasoning = Buffer.from('redacted by the simulator').toString('base64');
