// Answers given before. A cache need not hold anything: what fails here, or is too large, is a miss and
// never an error of a request.
import { GatewayError } from '../../errors/index.ts';
import type { CallMemory, MemoryBudget } from '../../protocol/memory-budget/index.ts';
import { inlineMaxBytes, packText, textBytesIn, unpackText } from '../../storage/blobs/index.ts';
import type { CallOptions, Item, Store } from '../../storage/store/index.ts';
import type { CacheKey } from './cache-key.ts';

const itemKey = ({ version, hash }: CacheKey): string => `CACHE#${version}#${hash}`;

export interface CacheLife {
  readonly ttlSeconds: number;
  readonly nowMs: number;
}

export interface ReadOptions extends CallOptions {
  /** Of the call that an answer is read for. */
  readonly memory?: Pick<CallMemory, 'reserve'> | undefined;
}

export interface ResponseCache {
  /**
   * The first that is there. Undefined: nothing that is still fresh, or nothing that could be read. Rejects only where there is an
   * answer and no memory for it.
   */
  read(keys: readonly CacheKey[], nowMs: number, options?: ReadOptions): Promise<CachedAnswer | undefined>;
  /** For complete answers only; never rejects. One that is too large for an item, or for which there is no memory, is not kept. */
  write(key: CacheKey, answer: CachedAnswer, life: CacheLife, options?: CallOptions): Promise<void>;
}

export interface ResponseCacheOptions {
  readonly store: Pick<Store, 'get' | 'put'>;
  /** What is written draws on it, beside its call, which has ended. Left out: on none. */
  readonly memory?: Pick<MemoryBudget, 'open'> | undefined;
  /** Hears why a read or a write came to nothing. Must not throw. */
  readonly onError: (cause: unknown) => void;
}

export function createResponseCache({ store, memory: budget, onError }: ResponseCacheOptions): ResponseCache {
  /** Answers on their way to the store: the next call may ask before they are there. */
  const underWay = new Map<string, CachedAnswer>();
  return {
    async read(keys, nowMs, { memory, ...options } = {}) {
      try {
        for (const key of keys.map(itemKey)) {
          const answer = underWay.get(key);
          if (answer !== undefined) return answer;
          const item = await store.get('cache', key, options);
          if (item !== undefined && !isExpired(item, nowMs)) return await answerOf(item, memory);
        }
      } catch (error) {
        if (error instanceof GatewayError) throw error;
        onError(error);
      }
      return undefined;
    },
    async write(key, answer, { ttlSeconds, nowMs }, options = {}) {
      const pk = itemKey(key);
      const kept = budget?.open();
      const waiting = kept?.reserve(copiesOfWritten * charactersOf(answer));
      waiting?.catch(() => {});
      if (waiting !== undefined) return kept?.end();
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
        // The last complete answer stands. Unconditional: two that race are both right.
        await store.put({ table: 'cache', item, repeatable: true }, options);
      } catch (error) {
        onError(error);
      } finally {
        if (underWay.get(pk) === answer) underWay.delete(pk);
        kept?.end();
      }
    },
  };
}

/** In milliseconds: a life may be as short as a second, and DynamoDB deletes days late. */
const isExpired = (item: Item, nowMs: number): boolean => (item.expires_at_ms as number) <= nowMs;

/** As it came, and in the text that is packed, as that and as its bytes. */
const copiesOfWritten = 3;

function charactersOf({ content }: CachedAnswer): number {
  if (content.kind === 'json') return content.text.length;
  return content.chunks.reduce((sum, chunk) => sum + (typeof chunk === 'string' ? chunk : chunk[1]).length, 0);
}

/** Unpacked in pieces, as one piece and as a text; and what is parsed of that, from which the answer is written. */
const copiesOfCached = 4;

async function answerOf(item: Item, memory: ReadOptions['memory']): Promise<CachedAnswer> {
  const bytes = item.answer_gzip as Uint8Array;
  await memory?.reserve(copiesOfCached * textBytesIn(bytes));
  const text = await unpackText({ bytes, sha256: item.answer_sha256 as string });
  if (text === undefined) throw new Error('a cached answer is damaged');
  return JSON.parse(text) as CachedAnswer;
}

/** Tokens as they were billed, the ground of the usage members. */
interface CachedUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly estimated: boolean;
}

/** The text of each event, beside its name where it has one. */
export type KeptEvents = readonly (string | readonly [name: string, text: string])[];

export interface CachedAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The JSON text of the provider, or every event of a stream that came to its end. */
  readonly content:
    | { readonly kind: 'json'; readonly text: string }
    | { readonly kind: 'stream'; readonly chunks: KeptEvents };
  /** Who answered: ids of provider and catalogue model. */
  readonly provider: string;
  readonly model: string;
  readonly usage: CachedUsage;
}
