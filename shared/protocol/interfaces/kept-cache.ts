/** A prompt's cache that outlives the memory of the provider's machines. The member that asks for it; undefined: none does. */
export const keptCacheMember = ({
  prompt_cache_retention: kept,
}: Readonly<Record<string, unknown>>): string | undefined =>
  (kept ?? null) === null || inMemory.includes(kept) ? undefined : 'prompt_cache_retention';

const inMemory: readonly unknown[] = ['in_memory', 'in-memory'];
