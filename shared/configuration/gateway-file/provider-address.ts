// Checks addresses of providers in a gateway file: the paths that can be called there, and the interfaces that a kind
// serves.
import * as z from 'zod';
import { calledPaths, type ProviderApi } from '../../foundation/constants/index.ts';
import { type ProviderKind, providerKinds } from '../model-list/index.ts';
import { text } from '../value-forms/index.ts';
import { authAdvice } from './problems.ts';

export const baseUrl = z.pipe(
  text(2048),
  z.transform((written: string, context): string => {
    const trimmed = written.replace(/\/+$/, '');
    const message = faultOfBaseUrl(trimmed);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
    return trimmed;
  }),
);

function faultOfBaseUrl(written: string): string | undefined {
  const fault = faultOfUrl(written) ?? faultOfHost(new URL(written));
  if (fault !== undefined) return fault;
  if (/[?#]/.test(written)) return `must not have a query or a fragment; for a key, ${authAdvice}`;
  const appended = calledPaths.find((path) => written.endsWith(path));
  if (appended !== undefined) return `must end before ${appended}: the gateway appends it`;
  return undefined;
}

/** Returns undefined for a URL that can be called. */
export function faultOfUrl(written: string): string | undefined {
  if (/\s/.test(written) || !URL.canParse(written)) return 'must be a URL, such as https://api.acme.example/v1';
  const url = new URL(written);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https:// or http://';
  if (url.username !== '' || url.password !== '') return `must not hold credentials, use auth: ${authAdvice}`;
  return undefined;
}

interface ServedHost {
  readonly host: RegExp;
  /** Matches paths that can be called at the host. */
  readonly path: RegExp;
  readonly message: string;
}

/** Hosts with further addresses, which cannot be called (from their references, November 2026). */
const servedHosts: readonly ServedHost[] = [
  {
    // docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-openai-compatible.html
    host: /^runtime\.sagemaker\.[\w-]+\.amazonaws\.com(\.cn)?$/,
    path: /\/openai\/v1$/,
    message:
      'is an address of SageMaker at which /invocations is called, which the gateway does not do: write https://runtime.sagemaker.REGION.amazonaws.com/endpoints/NAME/openai/v1, and auth: { bearer: … } with a token of SageMaker',
  },
  {
    // ibm.com/docs/en/watsonx/saas?topic=generation-inferencing-gateway-models
    host: /\.ml\.cloud\.ibm\.com$/,
    path: /\/ml\/gateway\/v1$/,
    message:
      'is an address of watsonx.ai that wants ?version= in each call, which the gateway does not send: write that of its model gateway, https://REGION.ml.cloud.ibm.com/ml/gateway/v1',
  },
  {
    // learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
    host: /\.(openai|cognitiveservices|services\.ai)\.azure\.com$/,
    path: /\/(openai|anthropic)\/v1$/,
    message:
      'is an address of Azure that wants ?api-version= in each call, which the gateway does not send: write https://RESOURCE.openai.azure.com/openai/v1',
  },
];

const faultOfHost = ({ hostname, pathname }: URL): string | undefined =>
  servedHosts.find(({ host, path }) => host.test(hostname) && !path.test(pathname))?.message;

interface WrittenAddress {
  readonly kind?: ProviderKind | undefined;
  readonly apis?: readonly ProviderApi[] | undefined;
  readonly base_url?: string | undefined;
}

/** Returns faults of the address, because an interface without an address would be a 404 of the first call. */
export function addressFaults({ kind, apis: written, base_url }: WrittenAddress): {
  readonly path: readonly (string | number)[];
  readonly message: string;
}[] {
  const known = kind && providerKinds[kind];
  if (known === undefined) return [];
  const isOwnAddress = base_url === undefined || base_url === known.baseUrl;
  if (!isOwnAddress && known.furtherApis === undefined) return [];
  const servedApis = [...known.apis, ...(known.furtherApis ?? [])];
  return (written ?? []).flatMap((api, index) =>
    servedApis.includes(api)
      ? []
      : [{ path: ['apis', index], message: `${kind} has no address for ${api}; it serves ${servedApis.join(', ')}` }],
  );
}
