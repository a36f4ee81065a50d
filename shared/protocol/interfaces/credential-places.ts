// Where clients of an interface send the key, and where they must not.
import { headerNames } from '../../foundation/constants/index.ts';

export interface CredentialPlace {
  /** A header that may carry the key beside `Authorization`, lower case. */
  readonly header: string | undefined;
  /** Two keys that differ are most likely in these variables of the client. */
  readonly variables: readonly string[];
  /** Message of the refusal of a request that shows a key, or a signature, in a way of its vendor that is not taken here. */
  readonly refusal: ((request: AuthenticatedRequest) => string | undefined) | undefined;
}

export interface AuthenticatedRequest {
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Without the question mark. */
  readonly query: string;
}

const bearer: CredentialPlace = { header: undefined, variables: [], refusal: undefined };

/** Queries are in the logs of proxies and of servers; a key in one may be known to others already. */
const keyInQuery = ({ query }: AuthenticatedRequest): string | undefined =>
  new URLSearchParams(query).has('key')
    ? 'The query has `key`: an API key is never read from it, as queries end up in logs. It is sent in the header `x-goog-api-key`, or as `Authorization: Bearer <key>`.'
    : undefined;

const signatureOfAws = /^AWS4-/i;

const signedForAws = ({ headers, query }: AuthenticatedRequest): string | undefined => {
  const isSigned = headers[headerNames.authorization]?.some((value) => signatureOfAws.test(value)) === true;
  return isSigned || new URLSearchParams(query).has('X-Amz-Signature')
    ? 'The request is signed with credentials of AWS. Set AWS_BEARER_TOKEN_BEDROCK to the key of this gateway: the SDK then sends it in the place of a signature.'
    : undefined;
};

export const credentialPlaces = {
  bearer,
  messages: {
    header: headerNames.apiKey,
    variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    refusal: undefined,
  },
  google: { header: headerNames.googleApiKey, variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'], refusal: keyInQuery },
  aws: { header: undefined, variables: [], refusal: signedForAws },
} as const satisfies Readonly<Record<string, CredentialPlace>>;
