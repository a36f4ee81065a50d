// Prepares a provider call: credential, URL, headers and body.

import { contentMaxBytes } from '../../../shared/accounting/content-log/index.ts';
import { SealBroken } from '../../../shared/configuration/byok/index.ts';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import { encodedPieces, type OutgoingBody } from '../../../shared/foundation/outgoing/index.ts';
import {
  encodeMultipart,
  type MultipartBody,
  piecesOf,
  type TextWithFiles,
} from '../../../shared/protocol/forms/index.ts';
import type { CandidateRequest } from '../../../shared/routing/formats/index.ts';
import {
  type AttemptFailure,
  type Credential,
  credentialWith,
  TokenUnavailable,
  type UpstreamRequest,
} from '../../../shared/routing/providers/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall, ParsedCall, ProviderCall, ProviderTerms } from '../stages.ts';

/** The parts of a call that sending needs. */
export interface CallToSend extends Pick<ProviderCall, 'admissionTime' | 'cancelSignal'> {
  readonly parsed: Pick<ParsedCall, 'byokKey' | 'deadline'> & {
    readonly scope: Pick<ParsedCall['scope'], 'correlationId' | 'clientGone' | 'memory'>;
  };
  readonly identified: Pick<IdentifiedCall, 'connections'>;
  readonly terms: Pick<ProviderTerms, 'byok'>;
  readonly modelCall: {
    /** The request, whose text is masked if a provider repeats the text in an error. */
    readonly request: { readonly stream: boolean; readonly text: () => { readonly text: string } };
  };
}

export type CalledCandidate = Pick<Candidate, 'provider'>;

export interface PreparedCall extends Pick<UpstreamRequest, 'url' | 'headers' | 'body' | 'method'> {
  /** The beginning of the body, as a content log may store it; empty for a form. */
  readonly text: () => string;
  /** Header values that are a credential, or were computed with a credential. */
  readonly secrets: readonly string[];
}

type Preparation = PreparedCall | { readonly failure: AttemptFailure };

interface RequestParts extends CandidateRequest, Pick<HeaderParts, 'traceparent'> {}

/**
 * Answers at once if the credential is known and signs nothing. A thrown error is a fault of the gateway, never a fault
 * of the provider.
 */
export function prepareCall(
  deps: GatewayDependencies,
  call: CallToSend,
  candidate: CalledCandidate,
  request: RequestParts,
): Preparation | Promise<Preparation> {
  const failed = (error: unknown) => failureOf(deps, call, candidate, error);
  try {
    const finding = findCredential(deps, call, candidate);
    const preparation =
      finding instanceof Promise
        ? finding.then((credential) => prepareWith(credential, call, candidate, request))
        : prepareWith(finding, call, candidate, request);
    return preparation instanceof Promise ? preparation.catch(failed) : preparation;
  } catch (error) {
    return failed(error);
  }
}

function prepareWith(
  credential: Credential | undefined,
  { admissionTime }: CallToSend,
  { provider: { base_url, headers: constant } }: CalledCandidate,
  request: RequestParts,
): Preparation | Promise<Preparation> {
  if (credential === undefined) return ourFault('no_usable_credential');
  const url = new URL(`${base_url}${request.path}`);
  url.hostname = request.hostname?.(url.hostname) ?? url.hostname;
  const { body, text, contentType } = encoded(request.body());
  const { method } = request;
  const headers = upstreamHeaders({ ...request, contentType, constant, credential: credential.headers });
  const prepared = (signed?: Record<string, string>): PreparedCall => {
    return { url, headers: signed ?? headers, body, text, method, secrets: secretsIn(signed, credential) };
  };
  const signing = credential.sign?.({ url, headers, body, method });
  if (signing === undefined) return prepared();
  // A token endpoint is a part of its provider, with a time limit of its own.
  return (credential.fetchesToken === true ? signing : admissionTime.wait(signing)).then(prepared);
}

function failureOf(
  { log }: GatewayDependencies,
  { parsed: { scope } }: CallToSend,
  { provider }: CalledCandidate,
  error: unknown,
): { readonly failure: AttemptFailure } {
  if (error instanceof TokenUnavailable) {
    const providerText = { forOperator: error.message, forClient: undefined };
    return { failure: { kind: 'failed', cause: 'no_token', providerText } };
  }
  if (error instanceof StoreUnavailable) return ourFault('not_ready', { isUnavailable: true });
  log.error({ event: 'attempt_not_made', correlation_id: scope.correlationId, provider: provider.id }, error);
  return ourFault('internal');
}

function encoded(
  body: string | MultipartBody | TextWithFiles,
): Pick<PreparedCall, 'body' | 'text'> & Pick<HeaderParts, 'contentType'> {
  if (typeof body === 'string') {
    return { body, text: () => body, contentType: body === '' ? undefined : 'application/json' };
  }
  if ('files' in body) {
    const pieces = piecesOf(body);
    return { body: pieces, text: () => beginningOf(pieces), contentType: 'application/json' };
  }
  const { contentType, pieces } = encodeMultipart(body);
  return { contentType, text: () => '', body: pieces };
}

/** Returns one character more than a content log stores if the body is longer, so that it counts as cut. */
function beginningOf(body: OutgoingBody): string {
  let text = '';
  for (const piece of encodedPieces(body)) {
    text += piece;
    if (text.length > contentMaxBytes) break;
  }
  return text;
}

const ourFault = (cause: string, more: Partial<AttemptFailure> = {}): { readonly failure: AttemptFailure } => ({
  failure: { kind: 'failed', cause, isOurFault: true, ...more },
});

/** Headers of a signed call that contain its credential, or were computed with it. */
const signedHeaders = ['authorization', 'x-amz-security-token'];

const secretsIn = (signed: Record<string, string> | undefined, { headers }: Credential): string[] =>
  [...Object.values(headers), ...signedHeaders.map((name) => signed?.[name] ?? '')]
    .map((value) => value.replace(/^bearer /i, ''))
    .filter((secret) => secret !== '');

/**
 * Finds the key of the request's header, of a stored connection, or of the gateway. The plan was made with the same
 * key, so the gateway's credential never replaces a connection that cannot be opened.
 */
function findCredential(
  deps: GatewayDependencies,
  { parsed: { byokKey }, identified, terms, admissionTime }: CallToSend,
  candidate: CalledCandidate,
): Credential | undefined | Promise<Credential | undefined> {
  const { provider } = candidate;
  const source = terms.byok?.sourceOf(candidate);
  if (source === 'header') {
    return byokKey === undefined ? undefined : credentialWith(provider.auth, byokKey);
  }
  if (source === undefined) return deps.credentials.find(provider);
  const connection = identified.connections.find((known) => known.provider === provider.id);
  return connection && openCredential(deps, admissionTime, provider, connection);
}

async function openCredential(
  deps: GatewayDependencies,
  admissionTime: CallToSend['admissionTime'],
  provider: CalledCandidate['provider'],
  connection: IdentifiedCall['connections'][number],
): Promise<Credential | undefined> {
  try {
    return credentialWith(provider.auth, await admissionTime.wait(deps.connections.openKey(connection)));
  } catch (error) {
    const cause = error instanceof StoreUnavailable && error.cause instanceof Error ? error.cause : error;
    const event = 'connection_key_unavailable';
    deps.log.error({ event, workspace_id: connection.workspace, provider: provider.id }, cause);
    // A connection whose key cannot be opened is skipped. The next candidate may still serve.
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}

// Builds the headers of a call to a provider. Nothing that a client sends determines its address or its credential.

/**
 * Headers that providers require on every call below a path. Headers of the provider's entry and of the client take
 * precedence.
 */
const expectedHeaders: readonly (readonly [path: string, headers: Readonly<Record<string, string>>])[] = [
  ['/messages', { 'anthropic-version': '2023-06-01' }],
];

interface HeaderParts extends Pick<CandidateRequest, 'path' | 'accept' | 'headers'> {
  /** Headers of the provider's entry. */
  readonly constant: Readonly<Record<string, string>> | undefined;
  readonly credential: Readonly<Record<string, string>>;
  /** JSON if absent. */
  readonly contentType?: string | undefined;
  readonly traceparent: string | undefined;
}

/**
 * Merges the headers. Later parts take precedence, so that a client's header never replaces a header of the gateway.
 */
export const upstreamHeaders = (parts: HeaderParts): Record<string, string> => ({
  ...expectedAt(parts.path),
  ...parts.constant,
  ...parts.headers,
  accept: parts.accept,
  'accept-encoding': 'identity',
  ...(parts.contentType === undefined ? {} : { 'content-type': parts.contentType }),
  'user-agent': 'gw',
  ...(parts.traceparent === undefined ? {} : { [headerNames.traceparent]: parts.traceparent }),
  ...parts.credential,
});

function expectedAt(path: string): Readonly<Record<string, string>> | undefined {
  const [plainPath = ''] = path.split('?');
  return expectedHeaders.find(([start]) => plainPath === start || plainPath.startsWith(`${start}/`))?.[1];
}
