// Replaces `@aws-sdk/credential-provider-node` in the bundles. A function finds its credentials in variables, or at a
// URL that variables name (containers, SnapStart); the SDK's complete chain brings 120 KB for profiles, single sign-on
// and virtual machines.
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { fromHttp } from '@aws-sdk/credential-provider-http';
import { chain, memoize } from '@smithy/core/config';
import { systemClock } from '../../shared/foundation/time/index.ts';

type Credentials = Awaited<ReturnType<ReturnType<typeof fromEnv>>>;

/** Credentials are refreshed this long before they expire, as in the SDK's chain that this file replaces. */
const refreshedBeforeEndMs = 300_000;

const expiresSoon = ({ expiration }: Credentials): boolean =>
  expiration !== undefined && expiration.getTime() - systemClock.nowMs() < refreshedBeforeEndMs;
const expires = ({ expiration }: Credentials): boolean => expiration !== undefined;

export const fromNodeProviderChain = () =>
  memoize(
    chain(fromEnv(), async () => fromHttp()()),
    expiresSoon,
    expires,
  );

/** Exported under the name that the clients import. */
export { fromNodeProviderChain as defaultProvider };
