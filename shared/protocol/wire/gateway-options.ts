// Members of the gateway that several interfaces read.
import * as z from 'zod/mini';

const flag = z.nullish(z.boolean());

export const cacheSchema = z.object({
  enabled: flag,
  ttl: z.nullish(z.int().check(z.minimum(1), z.maximum(86_400))),
  refresh: flag,
  namespace: z.nullish(z.string().check(z.maxLength(64))),
});

export type CacheOptions = z.infer<typeof cacheSchema>;

/** Any text: one that names no preset is preset_not_found. */
export const presetSchema = z.union([z.string(), z.object({ slug: z.string(), version: z.nullish(z.string()) })]);

export type PresetOption = z.infer<typeof presetSchema>;
