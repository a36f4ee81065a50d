// Identifies the operator: the holder of an operator key, or a person who has signed in. The store is read with every
// request, before anything else of the request is processed.
import {
  type AccessStore,
  grantsOf,
  ownerOf,
  type Person,
  type Rights,
  rightsOf,
} from '../../../shared/configuration/access/index.ts';
import { authenticateOperator, type KeyStore, type OperatorStore } from '../../../shared/configuration/keys/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import type { RequestScope } from '../../../shared/protocol/router/index.ts';
import { startAdmissionTime } from '../../../shared/storage/store/index.ts';
import type { SignIn } from '../sign-in/index.ts';

interface Dependencies {
  readonly operators: OperatorStore;
  readonly keys: Pick<KeyStore, 'read'>;
  readonly access: AccessStore;
  /** Undefined if only operator keys open the management interface. */
  readonly signIn?: SignIn | undefined;
  readonly clock: Clock;
}

export interface Operator {
  /** Public id of the key, or the subject of the person. */
  readonly id: string;
  /** Name in reports of changes: the name of the key, or the e-mail of the person. */
  readonly name: string;
  readonly rights: Rights;
  /** Owner of its own API keys; undefined for an operator key, which owns no API keys. */
  readonly owner: string | undefined;
  /** End of the sign-in; undefined for a key, which ends when it is revoked. */
  readonly signInEndsAtMs?: number | undefined;
}

/** Throws in this order: key or token, correlation headers. */
export async function identifyOperator(
  deps: Dependencies,
  { headers }: GatewayRequest,
  { correlationFault, details }: RequestScope,
): Promise<Operator> {
  const token = tokenIn(headers[headerNames.authorization]);
  const operator =
    token !== undefined && deps.signIn !== undefined
      ? await identifyPerson(deps, deps.signIn, token)
      : await identifyKey(deps, headers);
  details.operator = { id: operator.id, name: operator.name };
  if (correlationFault !== undefined) throw correlationFault;
  return operator;
}

const tokenMaxCharacters = 16_384;
/** Matches three parts of base64url. No key contains a dot. */
const tokenShape = /^bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i;

function tokenIn(values: readonly string[] | undefined): string | undefined {
  const [header = '', ...more] = values ?? [];
  return more.length > 0 || header.length > tokenMaxCharacters ? undefined : tokenShape.exec(header)?.[1];
}

async function identifyKey(
  { operators, keys, clock }: Dependencies,
  headers: GatewayRequest['headers'],
): Promise<Operator> {
  // The store gets two seconds to answer.
  const record = await startAdmissionTime(clock).wait(authenticateOperator(operators, keys, headers));
  const { publicId: id, name, role, workspaces } = record;
  return { id, name, rights: rightsOf([{ role, workspaces }]), owner: undefined };
}

async function identifyPerson({ access, clock }: Dependencies, signIn: SignIn, token: string): Promise<Operator> {
  const { person, expiresAtMs } = await signIn.verify(token);
  const rules = await startAdmissionTime(clock).wait(access.read());
  const rights = rightsOf(grantsOf(rules, person));
  if (!rights.holdsSomewhere('member')) throw fail('forbidden', { message: withoutRole(person) });
  const { subject: id, email } = person;
  return { id, name: email ?? id, rights, owner: ownerOf(person), signInEndsAtMs: expiresAtMs };
}

/** Returns a message that tells an owner what to configure, with the e-mail that would match the person. */
const withoutRole = ({ email }: Person): string =>
  `No entry of \`access\` in the gateway file names ${
    email === undefined ? 'this person, whose e-mail the identity provider has not verified' : email
  } or one of their groups.`;
