// Addresses of kinds whose interfaces live at different ones below a base URL, and what their bodies have otherwise.
import type { ProviderDocument } from '../../configuration/catalogue/index.ts';
import { isJsonText, jsonTextOf, parseJson, rewriteMembers } from '../../protocol/wire/index.ts';
import type { CandidateRequest, Send } from '../providers/index.ts';

type Addressed = Pick<ProviderDocument, 'kind' | 'base_url'>;

/** The send of a provider, with requests at the address that its kind has for them. */
export function addressedSend(provider: Addressed, send: Send): Send {
  const { kind, base_url: url } = provider;
  if (kind === 'cohere')
    return (request) => send({ ...request, path: coherePath(new URL(url).pathname, request.path) });
  if (kind !== 'vertex' || !googleFolder.test(url)) return send;
  return (request) => (request.path.startsWith('/messages') ? send(claudeOnVertex(request)) : send(request));
}

/** Chat and embeddings are at its compatibility path, reranking below `/v2`. Another address is one of its own. */
function coherePath(basePath: string, path: string): string {
  if (basePath !== '/' && basePath !== '/v2') return path;
  const up = basePath === '/v2' ? '/..' : '';
  return path === '/rerank' ? `${up}/v2${path}` : `${up}/compatibility/v1${path}`;
}

const googleFolder = /\/publishers\/google$/;
/** docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude, November 2026. */
const vertexVersion = 'vertex-2023-10-16';

/** Its model is in the path, beside Google's own, and its version in the body. */
function claudeOnVertex(request: CandidateRequest): CandidateRequest {
  const [path = ''] = request.path.split('?');
  const text = request.body();
  const body: unknown = typeof text === 'string' && isJsonText(text) ? parseJson(text) : {};
  const { model, stream } = body as { readonly model?: unknown; readonly stream?: unknown };
  const isCount = path.endsWith('/count_tokens');
  const name = isCount ? 'count-tokens' : encodeURIComponent(String(model));
  const method = stream === true ? 'streamRawPredict' : 'rawPredict';
  const changes = new Map<string, unknown>([
    ['anthropic_version', vertexVersion],
    ...(isCount ? [] : ([['model', undefined]] as const)),
  ]);
  return {
    ...request,
    path: `/../anthropic/models/${name}:${method}`,
    body: () => (typeof text === 'string' ? rewriteMembers(jsonTextOf(body), changes) : text),
  };
}
