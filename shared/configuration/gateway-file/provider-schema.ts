// Defines the schema of a provider of the gateway file: its address, its authentication, and the policy that it
// declares.
import * as z from 'zod';
import {
  connectTimeoutDefaultMs,
  headerNames,
  idleTimeoutDefaultMs,
  type ProviderApi,
  providerApis,
} from '../../foundation/constants/index.ts';
import { canonicalJson } from '../../foundation/ids/index.ts';
import {
  type ProviderAuth,
  type ProviderDocument,
  type SecretReference,
  secretReferenceOf,
  withReference,
} from '../catalogue/index.ts';
import { type ProviderKind, providerKindNames, providerKinds } from '../model-list/index.ts';
import { text } from '../value-forms/index.ts';
import { policySchema } from '../workspaces/index.ts';
import {
  faultyFields,
  mapping,
  providerId,
  referenceSchema,
  region,
  runsDespiteOtherIssues,
  secretReference,
  selectSchema,
  timeoutMs,
} from './fields.ts';
import { authAdvice, credentialAdvice, looksLikeCredential } from './problems.ts';
import { addressFaults, baseUrl } from './provider-address.ts';
import { changeFaults, drops, renames } from './provider-changes.ts';

/** Headers that the gateway sets itself, or that belong to one connection. */
const ownNames = new Set([
  ...[
    'accept',
    'accept-encoding',
    'content-encoding',
    'content-length',
    'content-type',
    'expect',
    'host',
    'user-agent',
  ],
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['x-amz-content-sha256', 'x-amz-date', 'baggage', 'tracestate', headerNames.traceparent],
]);
const credentialName = /authorization|authenticate|cookie|key|token|secret|credential|password/;
const nameShape = /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const valueShape = /^[\x21-\x7e]([\x20-\x7e]{0,1022}[\x21-\x7e])?$/;
const headersMax = 32;

/** Name of the header with a credential, which is any header that the gateway does not use itself. */
const credentialHeader = z
  .string()
  .transform((written) => written.toLowerCase())
  .superRefine((name, context) => {
    if (looksLikeCredential(name)) {
      context.addIssue({
        code: 'custom',
        message: `must be the name of a header, not the credential itself: write ${credentialAdvice}`,
      });
      return;
    }
    const message = faultOfName(name);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** Constant headers. Names are returned in lower case. */
const constantHeaders = z
  .record(
    z.string(),
    z.string({
      error: (issue) =>
        typeof issue.input === 'number' ? 'must be written in quotes, such as "2023-06-01"' : undefined,
    }),
  )
  .superRefine((written, context) => {
    const seen = new Set<string>();
    for (const [name, value] of Object.entries(written)) {
      const lower = name.toLowerCase();
      const message = seen.has(lower) ? 'is there twice: case does not matter' : faultOfHeader(lower, String(value));
      seen.add(lower);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    }
    if (seen.size > headersMax) context.addIssue({ code: 'custom', message: `must be at most ${headersMax} headers` });
  }, runsDespiteOtherIssues)
  .transform((written) =>
    Object.fromEntries(Object.entries(written).map(([name, value]) => [name.toLowerCase(), value])),
  );

export const auth = selectSchema<ProviderAuth>((input) => {
  if (typeof input !== 'object' || input === null) return noAuth;
  if ('sigv4' in input) return signed;
  if ('gcp' in input) return serviceAccount;
  if ('entra' in input) return entraClient;
  return 'header' in input ? ownHeader : bearer;
});
const noAuth = z.literal('none', {
  error: `must be none, { bearer: … }, { header: … }, { sigv4: … }, { gcp: … } or { entra: … }, never the credential itself: ${authAdvice}`,
});
const bearer = mapping('providers[].auth', { bearer: secretReference });
const ownHeader = mapping('providers[].auth', {
  header: referenceSchema({ name: credentialHeader }),
});
const serviceAccount = mapping('providers[].auth', { gcp: secretReference });
const signed = mapping('providers[].auth', { sigv4: mapping('providers[].auth.sigv4', { service: text(64), region }) });

/** Maximum number of credentials. Further accounts are spread over several providers. */
const credentialsMax = 32;
const credentials = z
  .array(secretReference)
  .min(1, { error: 'must name a credential, such as { env: NAME }' })
  .max(credentialsMax, { error: `must be at most ${credentialsMax} credentials` })
  .superRefine((written, context) => {
    const names = written.map(canonicalJson);
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index) context.addIssue({ code: 'custom', path: [index], message: 'is there twice' });
    }
  });

export const apis = z
  .array(z.enum(providerApis))
  .min(1, { error: 'must name an interface, such as chat-completions' })
  .superRefine((written, context) => {
    for (const [index, api] of written.entries()) {
      if (written.indexOf(api) < index) context.addIssue({ code: 'custom', path: [index], message: 'is there twice' });
    }
  });
const defaultApis: ProviderApi[] = ['chat-completions'];
/** Returns the interfaces of a provider whose file does not name them. */
export const apisOfKind = (kind: ProviderKind | undefined): readonly ProviderApi[] =>
  (kind && providerKinds[kind].apis) ?? defaultApis;

/** A name in the path of a token endpoint. */
const entraName = text(128).check(
  z.regex(/^[\w.-]+$/, { error: 'must be an id or a domain, such as contoso.onmicrosoft.com' }),
);
const entraClient = mapping('providers[].auth', {
  entra: mapping('providers[].auth.entra', {
    tenant: entraName,
    client_id: entraName,
    client_secret: secretReference,
    authority: baseUrl.optional(),
    scope: z.optional(text(2048)),
  }),
});

/** Region of a provider as written, and of the process. */
export const awsRegion = region.regex(/^[a-z]{2}(-[a-z]+)+-\d$/, {
  error: 'must be a region of AWS, such as eu-west-1',
});

/**
 * A provider in a file. Without a status it keeps the stored status. Its address and its signature may lack the region,
 * which is filled in when the file is applied.
 */
type ProviderInFile = Omit<ProviderDocument, 'status' | 'base_url' | 'auth'> & {
  status?: ProviderDocument['status'] | undefined;
  base_url?: string | undefined;
  auth?: ProviderAuth | undefined;
};

const writtenProvider = mapping('providers[]', {
  id: providerId,
  kind: z.enum(providerKindNames).optional(),
  display_name: z.optional(text(128)),
  status: z.enum(['enabled', 'disabled']).optional(),
  region: awsRegion.optional(),
  base_url: baseUrl.optional(),
  apis: apis.optional(),
  auth: auth.optional(),
  credentials: credentials.optional(),
  headers: constantHeaders.optional(),
  accepts_byok_header: z.boolean().default(false),
  /** An absent field is unknown, and unknown satisfies no policy. */
  data_policy: z._default(policySchema, {}),
  // The field stays absent when it is not written, because only a written value limits the first byte of JSON answers.
  first_chunk_timeout_ms: timeoutMs.optional(),
  idle_timeout_ms: timeoutMs.default(idleTimeoutDefaultMs),
  connect_timeout_ms: timeoutMs.default(connectTimeoutDefaultMs),
  reasoning_style: z.enum(['effort', 'object', 'none']).optional(),
  stream_usage: z.boolean().optional(),
  drops: drops.optional(),
  renames: renames.optional(),
  shared_state: z.boolean().optional(),
  reasoning_tokens: z.enum(['included', 'additive']).default('included'),
});
type WrittenProvider = z.infer<typeof writtenProvider>;

export const provider = writtenProvider
  .superRefine((written, context) => {
    const faulty = faultyFields(context);
    // These fields determine which values of the other fields are valid.
    if (faulty.has('kind') || faulty.has('auth') || faulty.has('apis')) return;
    const right = Object.fromEntries(Object.entries(written).filter(([name]) => !faulty.has(name)));
    for (const { path, message } of faultsOf(right as WrittenProvider)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  }, runsDespiteOtherIssues)
  .transform(withKind);

interface Fault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

function faultsOf(written: WrittenProvider): Fault[] {
  const { kind, region, auth, headers, accepts_byok_header } = written;
  const faults: Fault[] = [...changeFaults(written, written.apis ?? apisOfKind(kind))];
  const fault = (path: readonly string[], message: string) => void faults.push({ path, message });
  const known = kind && providerKinds[kind];
  if (region !== undefined && known?.auth?.scheme !== 'sigv4') {
    fault(['region'], 'belongs to a provider of kind bedrock; elsewhere write it into base_url');
  }
  const isSigned = auth === undefined ? known?.auth?.scheme === 'sigv4' : typeof auth === 'object' && 'sigv4' in auth;
  if (isSigned && accepts_byok_header) {
    fault(['accepts_byok_header'], 'must be false beside sigv4: a call that is signed carries no key');
  }
  faults.push(...credentialFaults(written), ...addressFaults(written));
  const carrier = headerOfKey(auth ?? authOf(kind));
  if (carrier !== undefined && headers?.[carrier] !== undefined) {
    fault(['headers', carrier], 'carries the credential, as auth says');
  }
  return faults;
}

/**
 * Returns faults of several credentials. `auth` then defines how a credential is sent, and refers to one credential.
 */
function credentialFaults({ kind, auth, credentials }: WrittenProvider): Fault[] {
  if (credentials === undefined || credentials.length === 0) return [];
  const isSigned = auth === undefined && kind !== undefined && providerKinds[kind].auth?.scheme === 'sigv4';
  const reference = auth && secretReferenceOf(auth);
  if (isSigned || (auth !== undefined && reference === undefined))
    return [{ path: ['credentials'], message: 'belong to an auth with a secret: bearer, header, gcp or entra' }];
  if (reference === undefined || credentials.some((one) => isSame(one, referenceIn(reference)))) return [];
  return [{ path: ['auth'], message: 'names a secret that is not among credentials' }];
}

const isSame = (one: SecretReference, other: SecretReference): boolean => canonicalJson(one) === canonicalJson(other);

/** Returns the reference without the name of a header. */
const referenceIn = (reference: SecretReference): SecretReference =>
  'env' in reference ? { env: reference.env } : { secret: reference.secret };

const headerOfKey = (auth: ProviderAuth | undefined): string | undefined =>
  typeof auth === 'object' && 'header' in auth ? auth.header.name : undefined;

/** Returns the usual authentication; undefined if its signature needs a region. */
function authOf(kind: ProviderKind | undefined): ProviderAuth | undefined {
  const known = kind && providerKinds[kind].auth;
  if (known === undefined) return 'none';
  if (known.scheme === 'bearer') return { bearer: { env: known.env } };
  return known.scheme === 'header' ? { header: { name: known.name, env: known.env } } : undefined;
}

/** Returns the written or usual authentication, with the first of `credentials`; undefined without `credentials`. */
function authOfCredentials({ kind, auth, credentials }: WrittenProvider): ProviderAuth | undefined {
  const first = credentials?.[0];
  if (first === undefined) return undefined;
  const usual = authOf(kind);
  const isWritten = kind !== undefined && providerKinds[kind].auth?.scheme === 'written';
  const schema =
    auth ?? (isWritten ? { gcp: first } : usual === 'none' || usual === undefined ? { bearer: first } : usual);
  return withReference(schema, first);
}

/** Fills in the values of the provider's kind; written values take precedence. */
function withKind({ display_name, region: writtenRegion, ...written }: WrittenProvider): ProviderInFile {
  const known = written.kind && providerKinds[written.kind];
  const headers = known?.headers === undefined ? written.headers : { ...known.headers, ...written.headers };
  const auth = authOfCredentials(written) ?? written.auth ?? authOf(written.kind);
  const signedFor = typeof auth === 'object' && 'sigv4' in auth ? auth.sigv4.region : undefined;
  const isRegional = known?.auth?.scheme === 'sigv4';
  return {
    ...written,
    display_name: display_name ?? written.id,
    region: isRegional ? (writtenRegion ?? signedFor) : undefined,
    base_url: written.base_url ?? (typeof known?.baseUrl === 'string' ? known.baseUrl : undefined),
    apis: written.apis ?? [...apisOfKind(written.kind)],
    auth,
    headers,
    reasoning_style: written.reasoning_style ?? known?.reasoningStyle,
    stream_usage: written.stream_usage ?? known?.streamUsage,
  };
}

/**
 * Returns the provider with its region, if it needs a region. This is the region of the file, else of the gateway, else
 * the stored region; undefined for none.
 */
export function inRegion(
  provider: ProviderInFile,
  former: Pick<ProviderDocument, 'region'> | undefined,
  processRegion: string | undefined,
): Omit<ProviderDocument, 'status'> | undefined {
  const { kind, base_url, auth, status: _status, ...rest } = provider;
  if (base_url !== undefined && auth !== undefined) return { ...rest, kind, base_url, auth };
  const known = kind && providerKinds[kind];
  const region = provider.region ?? processRegion ?? former?.region;
  if (known?.auth?.scheme !== 'sigv4' || region === undefined) return undefined;
  const ownUrl = typeof known.baseUrl === 'function' ? known.baseUrl(region) : undefined;
  return {
    ...rest,
    kind,
    region,
    base_url: base_url ?? ownUrl ?? '',
    auth: auth ?? { sigv4: { service: known.auth.service, region } },
  };
}

/**
 * Returns a provider of a file with its kind, its region if it needs one, and its credentials if its kind has a
 * secret.
 */
export function bareProvider({
  id,
  kind,
  region,
  credentials,
}: Pick<ProviderDocument, 'id' | 'kind' | 'region' | 'credentials'>) {
  const isSigned = kind !== undefined && providerKinds[kind].auth?.scheme === 'sigv4';
  const bare = provider.parse({
    id,
    kind,
    ...(isSigned ? {} : { credentials }),
    ...(region === undefined ? {} : { region }),
  });
  return { ...bare, ...inRegion(bare, undefined, region) };
}

// Checks the headers that a provider entry names: the header with its credential, and constant headers.

/** Returns undefined when the gateway can send a header of this name (lower case). */
function faultOfName(name: string): string | undefined {
  if (!nameShape.test(name)) return 'is no name of a header';
  return ownNames.has(name) ? 'cannot be set here: the gateway sets it itself' : undefined;
}

function faultOfHeader(name: string, value: string): string | undefined {
  if (credentialName.test(name) || looksLikeCredential(value)) {
    return `must not be a credential: write auth: { header: { name: HEADER, env: NAME } }, the credential itself in the variable NAME of the gateway`;
  }
  if (!valueShape.test(value)) return 'must be 1 to 1024 visible ASCII characters, blanks between them';
  return faultOfName(name);
}
