// A provider of the gateway file: where it is, how it is called, and what it declares.
import * as z from 'zod';
import {
  connectTimeoutDefaultMs,
  idleTimeoutDefaultMs,
  type ProviderApi,
  providerApis,
} from '../../foundation/constants/index.ts';
import type { DeclaredPolicy, ProviderAuth, ProviderDocument } from '../catalogue/index.ts';
import { chosenBy, mapping, providerId, referenceForm, region, secretReference, text, timeoutMs } from './fields.ts';
import { authAdvice } from './problems.ts';
import { constantHeaders, credentialHeader } from './provider-headers.ts';

/** An empty list would satisfy every policy: refused. */
export const regions = z.array(region).min(1, { error: 'must name a region, or be left out' });

/** What is left out is unknown, and unknown satisfies no policy. */
const dataPolicy = mapping('providers[].data_policy', {
  zdr: z.boolean().optional(),
  data_collection: z.enum(['allow', 'deny']).optional(),
  data_residency: regions.optional(),
}) satisfies z.ZodType<DeclaredPolicy>;

const auth = chosenBy<ProviderAuth>((input) => {
  if (typeof input !== 'object' || input === null) return noAuth;
  if ('sigv4' in input) return signed;
  return 'header' in input ? ownHeader : bearer;
});
const noAuth = z.literal('none', {
  error: `must be none, { bearer: … }, { header: … } or { sigv4: … }, never the credential itself: ${authAdvice}`,
});
const bearer = mapping('providers[].auth', { bearer: secretReference });
const ownHeader = mapping('providers[].auth', {
  header: referenceForm({ name: credentialHeader }),
});
const signed = mapping('providers[].auth', { sigv4: mapping('providers[].auth.sigv4', { service: text(64), region }) });

const apis = z
  .array(z.enum(providerApis))
  .min(1, { error: 'must name one, such as chat-completions' })
  .superRefine((written, context) => {
    for (const [index, api] of written.entries()) {
      if (written.indexOf(api) < index) context.addIssue({ code: 'custom', path: [index], message: 'is there twice' });
    }
  });
const defaultApis: ProviderApi[] = ['chat-completions'];

/** What people copy together with the base URL. */
const appendedPaths = ['/chat/completions', '/messages', '/responses', '/embeddings'];

const baseUrl = text(2048).transform((written, context): string => {
  const trimmed = written.replace(/\/+$/, '');
  const message = faultOfBaseUrl(trimmed);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
  return trimmed;
});

function faultOfBaseUrl(written: string): string | undefined {
  if (/\s/.test(written) || !URL.canParse(written)) return 'must be a URL, such as https://api.acme.example/v1';
  const url = new URL(written);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https:// or http://';
  if (url.username !== '' || url.password !== '') return `must not hold credentials, use auth: ${authAdvice}`;
  if (/[?#]/.test(written)) return `must not have a query or a fragment; for a key, ${authAdvice}`;
  const appended = appendedPaths.find((path) => written.endsWith(path));
  if (appended !== undefined) return `must end before ${appended}: the gateway appends it`;
  return undefined;
}

/** Without a status a provider keeps the one that is stored. */
export type ProviderInFile = Omit<ProviderDocument, 'status'> & { status?: ProviderDocument['status'] | undefined };

export const provider = mapping('providers[]', {
  id: providerId,
  display_name: text(128).optional(),
  status: z.enum(['enabled', 'disabled']).optional(),
  base_url: baseUrl,
  apis: apis.default(defaultApis),
  auth: auth.prefault('none'),
  headers: constantHeaders.optional(),
  accepts_byok_header: z.boolean().default(false),
  data_policy: dataPolicy.default({}),
  // Left absent when it is not written: only a written one binds the first byte of JSON answers.
  first_chunk_timeout_ms: timeoutMs.optional(),
  idle_timeout_ms: timeoutMs.default(idleTimeoutDefaultMs),
  connect_timeout_ms: timeoutMs.default(connectTimeoutDefaultMs),
  reasoning_style: z.enum(['effort', 'object', 'none']).default('effort'),
  stream_usage: z.boolean().optional(),
  reasoning_tokens: z.enum(['included', 'additive']).default('included'),
})
  .superRefine(({ auth, headers, accepts_byok_header }, context) => {
    if (typeof auth === 'object' && 'sigv4' in auth && accepts_byok_header) {
      const message = 'must be false beside sigv4: a call that is signed carries no key';
      context.addIssue({ code: 'custom', path: ['accepts_byok_header'], message });
    }
    if (typeof auth === 'object' && 'header' in auth && headers?.[auth.header.name] !== undefined) {
      const message = 'carries the credential, as auth says';
      context.addIssue({ code: 'custom', path: ['headers', auth.header.name], message });
    }
  })
  .transform(
    ({ display_name, ...written }): ProviderInFile => ({
      ...written,
      display_name: display_name ?? written.id,
    }),
  );
