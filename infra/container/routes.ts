// Lists every route at one address, for a container and for a local run.

import { createGateway, type DescribeApi } from '../../functions/gateway/routes.ts';
import type { ConsolePage } from '../../functions/operator/console/page-folder.ts';
import { createOperatorGateway, isOperatorPath } from '../../functions/operator/routes.ts';
import { createSignIn } from '../../functions/operator/sign-in/index.ts';
import type { Composition } from '../../shared/composition/index.ts';
import { metricsEndpoint } from '../../shared/foundation/constants/index.ts';
import type { SignInSettings } from '../../shared/foundation/environment/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { createMetricsGateway, type ReadMetrics } from '../metrics/index.ts';

export interface BuiltFiles {
  readonly page: ConsolePage;
  readonly describeApi: DescribeApi;
}

/** Creates the gateway. `readMetrics` is omitted if metrics are not served. */
export function createWholeGateway(
  composition: Composition,
  { page, describeApi }: BuiltFiles,
  signInSettings?: SignInSettings,
  readMetrics?: ReadMetrics,
): Gateway {
  const chat = createGateway(composition, describeApi);
  const signIn = signInSettings && createSignIn(signInSettings, composition.clock);
  const operators = { ...composition, signIn };
  const operator = createOperatorGateway(operators, page);
  const metrics = readMetrics && createMetricsGateway(operators, readMetrics);
  return (request, context) => {
    if (metrics !== undefined && request.path === metricsEndpoint.path) return metrics(request, context);
    return (isOperatorPath(request.path) ? operator : chat)(request, context);
  };
}
