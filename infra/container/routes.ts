// Every route behind one address, for a container and for a local run.

import { createGateway, type DescribeApi } from '../../functions/gateway/routes.ts';
import type { Page } from '../../functions/operator/console/page-folder.ts';
import { createOperatorGateway, isOperatorPath } from '../../functions/operator/routes.ts';
import { createSignIn } from '../../functions/operator/sign-in/index.ts';
import type { Composition } from '../../shared/composition/index.ts';
import type { SignInSettings } from '../../shared/foundation/environment/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';

export interface BuiltFiles {
  readonly page: Page;
  readonly describeApi: DescribeApi;
}

export function createWholeGateway(
  composition: Composition,
  { page, describeApi }: BuiltFiles,
  signInSettings?: SignInSettings,
): Gateway {
  const chat = createGateway(composition, describeApi);
  const signIn = signInSettings && createSignIn(signInSettings, composition.clock);
  const operator = createOperatorGateway({ ...composition, signIn }, page);
  return (request, context) => (isOperatorPath(request.path) ? operator : chat)(request, context);
}
