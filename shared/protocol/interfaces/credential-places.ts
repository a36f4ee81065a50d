// Lists the places where clients of an interface send the key, and the places where they must not.
import { headerNames } from '../../foundation/constants/index.ts';

export interface CredentialPlace {
  /** A header that may contain the key instead of `Authorization`, in lower case. */
  readonly header: string | undefined;
  /** Environment variables of the client that most likely contain two different keys. */
  readonly variables: readonly string[];
  /**
   * Returns the message for a request that sends a key, or a signature, in the vendor's way, which the gateway does not
   * accept.
   */
  readonly refusal: ((request: AuthenticatedRequest) => string | undefined) | undefined;
}

export interface AuthenticatedRequest {
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Query string without the question mark. */
  readonly query: string;
}

const bearer: CredentialPlace = { header: undefined, variables: [], refusal: undefined };

/**
 * Returns the message for a key in the query, which others may know already, because queries are in the logs of proxies
 * and of servers.
 */
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
