import type { LanguageModelV4File } from '@ai-sdk/provider';

/** An image of an answer, as base64. Undefined: it is none, or stands elsewhere. */
export function imageOf({ mediaType, data }: LanguageModelV4File): string | undefined {
  if (!mediaType.startsWith('image/') || data.type !== 'data') return undefined;
  return typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
}
