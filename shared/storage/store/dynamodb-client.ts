// DynamoDB's own protocol over the signed calls that reach the rest of AWS. In place of the SDK's client, which takes
// half of a request's processor time and two fifths of a bundle (README, decisions).

import { readAwsCredentials, readDynamoPlace } from '../../foundation/environment/index.ts';
import { type Clock, systemClock } from '../../foundation/time/index.ts';
import {
  awsCallFailed,
  awsOrigin,
  createAwsEndpoint,
  type Identity,
  operationCall,
  readJsonAnswer,
} from '../aws-calls/index.ts';
import type { AttributeMap } from './attribute-values.ts';

/** Sockets to DynamoDB. A Lambda environment uses a few; a local run or a Web Function needs one per running request. */
const storeSocketsMax = 256;
/** A page is 1 MB as DynamoDB counts; the tags of small attributes and base64 make a few times that of it. */
const answerMaxBytes = 16 * 1024 * 1024;
/** Servers outside AWS check no credentials, but DynamoDB Local keeps separate data per access key: one for all of us. */
const credentialsOutsideAws = { accessKeyId: 'local', secretAccessKey: 'local' };
const regionOutsideAws = 'us-east-1';

/** Members as DynamoDB names them. */
export type DynamoInput = Readonly<Record<string, unknown>>;
export type DynamoOutput = Readonly<Record<string, unknown>>;

export type DynamoAnswer =
  | { readonly kind: 'done'; readonly output: DynamoOutput }
  | {
      readonly kind: 'refused' /** The item that stood in the way, if any. */;
      readonly item: AttributeMap | undefined;
    };

export interface DynamoClient {
  /**
   * Sends one operation once, such as `GetItem`. 'refused': its condition did not hold. Throws AwsCallFailed for any
   * other refusal, ConnectionBroken where there was no answer, an Error for an answer that is not DynamoDB's.
   */
  send(operation: string, input: DynamoInput, signal?: AbortSignal): Promise<DynamoAnswer>;
  /** Closes the sockets. */
  destroy(): void;
}

export interface DynamoClientOptions {
  /** URL of a DynamoDB-compatible server outside AWS. Without it: what the variables of the process name, or AWS. */
  readonly endpoint?: string | undefined;
  /** Default: the region of the process. */
  readonly region?: string | undefined;
  /** Default: the credentials of the process. */
  readonly identity?: Identity | undefined;
  readonly clock?: Clock | undefined;
}

/** Calls nothing yet. Throws where neither the options nor the process name a region. */
export function createDynamoClient(options: DynamoClientOptions = {}): DynamoClient {
  const { clock = systemClock } = options;
  const limits = { answerMaxBytes, socketsMax: storeSocketsMax };
  const endpoint = createAwsEndpoint({ service: 'dynamodb', ...placeOf(options), ...limits, clock });
  return {
    async send(operation, input, signal = neverAborts) {
      const call = operationCall('1.0', `DynamoDB_20120810.${operation}`, input);
      const { status, body } = await endpoint.send(call, signal);
      if (status === 200) return { kind: 'done', output: readJsonAnswer('DynamoDB', body) };
      const failure = awsCallFailed('dynamodb', status, body);
      if (failure.code !== 'ConditionalCheckFailedException') throw failure;
      return { kind: 'refused', item: readJsonAnswer('DynamoDB', body).Item as AttributeMap | undefined };
    },
    destroy: () => endpoint.close(),
  };
}

const neverAborts = new AbortController().signal;

function placeOf({ endpoint, region, identity = async () => readAwsCredentials() }: DynamoClientOptions) {
  if (endpoint !== undefined) {
    return { origin: new URL(endpoint), region: regionOutsideAws, identity: async () => credentialsOutsideAws };
  }
  const place = readDynamoPlace(region);
  return { origin: place.endpoint ?? awsOrigin('dynamodb', place.region), region: place.region, identity };
}
