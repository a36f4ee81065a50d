// Caches answers. The cache is optional: a failure of it, or an answer that is too large, is a miss and never an error
// of a request.
import { GatewayError } from '../../errors/index.ts';
import {
  type AnswerAllocation,
  answerBytes,
  loadAnswer,
  type MemoryBudget,
} from '../../protocol/memory-budget/index.ts';
import { inlineMaxBytes, packText, textBytesIn, unpackText } from '../../storage/blobs/index.ts';
import type { CallOptions, Item, Store } from '../../storage/store/index.ts';
import type { CacheKey } from './cache-key.ts';

const itemKey = ({ version, hash }: CacheKey): string => `CACHE#${version}#${hash}`;

interface CacheLife {
  readonly ttlSeconds: number;
  readonly nowMs: number;
}

interface ReadOptions extends CallOptions {
  /** Memory of the call that reads an answer. */
  readonly allocation?: Pick<AnswerAllocation, 'take' | 'during'> | undefined;
}

export interface ResponseCache {
  /**
   * Returns the first answer found, or undefined when there is none that is fresh and could be read. Rejects only if
   * there is an answer and no memory for it.
   */
  read(keys: readonly CacheKey[], nowMs: number, options?: ReadOptions): Promise<CachedAnswer | undefined>;
  /**
   * Writes a complete answer; never rejects. An answer that is too large for an item, or for which there is no memory,
   * is not stored.
   */
  write(key: CacheKey, answer: CachedAnswer, life: CacheLife, options?: CallOptions): Promise<void>;
}

interface ResponseCacheOptions {
  readonly store: Pick<Store, 'get' | 'put'>;
  /** Memory for writes, separate from their calls, which have ended; none if absent. */
  readonly memory?: Pick<MemoryBudget, 'openCopies'> | undefined;
  /** Called with the reason why a read or a write failed. Must not throw. */
  readonly onError: (cause: unknown) => void;
}

export function createResponseCache({ store, memory: budget, onError }: ResponseCacheOptions): ResponseCache {
  /** Answers that are being written, because the next call may need them before they are stored. */
  const underWay = new Map<string, CachedAnswer>();
  return {
    async read(keys, nowMs, { allocation, ...options } = {}) {
      try {
        for (const key of keys.map(itemKey)) {
          const answer = underWay.get(key);
          if (answer !== undefined) return answer;
          const item = await store.get('cache', key, options);
          if (item !== undefined && !isExpired(item, nowMs)) return await answerOf(item, allocation);
        }
      } catch (error) {
        if (error instanceof GatewayError) throw error;
        onError(error);
      }
      return undefined;
    },
    async write(key, answer, { ttlSeconds, nowMs }, options = {}) {
      const pk = itemKey(key);
      const copies = budget?.openCopies();
      if (copies?.take(answerBytes({ stored: charactersOf(answer) })) === false) return;
      underWay.set(pk, answer);
      try {
        const { bytes, sha256 } = await packText(JSON.stringify(answer));
        if (bytes.byteLength > inlineMaxBytes) return;
        const expiresAtMs = nowMs + ttlSeconds * 1000;
        const item = {
          pk,
          answer_gzip: bytes,
          answer_sha256: sha256,
          expires_at_ms: expiresAtMs,
          expires_at_epoch_seconds: Math.ceil(expiresAtMs / 1000),
        };
        // The last complete answer stays. The write is unconditional: of two concurrent answers both are right.
        await store.put({ table: 'cache', item, repeatable: true }, options);
      } catch (error) {
        onError(error);
      } finally {
        if (underWay.get(pk) === answer) underWay.delete(pk);
        copies?.end();
      }
    },
  };
}

/**
 * True for an expired item, in milliseconds, because a lifetime may be as short as a second, and DynamoDB deletes days
 * late.
 */
const isExpired = (item: Item, nowMs: number): boolean => (item.expires_at_ms as number) <= nowMs;

function charactersOf({ content }: CachedAnswer): number {
  if (content.kind === 'json') return content.text.length;
  return content.chunks.reduce((sum, chunk) => sum + (typeof chunk === 'string' ? chunk : chunk[1]).length, 0);
}

async function answerOf(item: Item, allocation: ReadOptions['allocation']): Promise<CachedAnswer> {
  const bytes = item.answer_gzip as Uint8Array;
  return await loadAnswer(allocation, { cached: textBytesIn(bytes) }, async () => {
    const text = await unpackText({ bytes, sha256: item.answer_sha256 as string });
    if (text === undefined) throw new Error('a cached answer is damaged');
    return JSON.parse(text) as CachedAnswer;
  });
}

/** Tokens as they were billed, from which the usage fields are written. */
interface CachedUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly estimated: boolean;
}

/** Texts of events, each with its name if it has one. */
export type CacheableEvents = readonly (string | readonly [name: string, text: string])[];

export interface CachedAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The JSON text of the provider, or every event of a stream that came to its end. */
  readonly content:
    | { readonly kind: 'json'; readonly text: string }
    | { readonly kind: 'stream'; readonly chunks: CacheableEvents };
  /** Id of the provider that answered. `model` is the id of the catalogue model. */
  readonly provider: string;
  readonly model: string;
  readonly usage: CachedUsage;
  /** Paths of parts of the request that did not reach the provider. Absent if there are none. */
  readonly leftOut?: readonly string[] | undefined;
}
