// Finds a provider's error in a body. The error may be in a list, or inside the error of a router in front of the
// provider.
import { isJsonObject } from '../../protocol/wire/index.ts';

/** Returns the error object; Google answers some calls with a list of one error. */
export function outermost(body: unknown): Record<string, unknown> {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return isJsonObject(first) ? first : {};
}

/**
 * Returns the error inside OpenRouter's error about a provider's refusal, which contains the provider's body as text.
 */
export function innerError(body: unknown): unknown {
  const { error } = outermost(body);
  const metadata = isJsonObject(error) && isJsonObject(error.metadata) ? error.metadata : {};
  const { raw } = metadata;
  if (typeof raw !== 'string' || raw.trim() === '') return body;
  try {
    const inner: unknown = JSON.parse(raw);
    return isJsonObject(inner) ? inner : body;
  } catch {
    return { error: { message: raw } };
  }
}
