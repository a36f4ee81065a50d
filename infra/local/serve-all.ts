// Every function of a stage behind one address, as its distribution has them.
import { createChatGateway } from '../../functions/gateway/routes.ts';
import type { Page } from '../../functions/operator/console/page-folder.ts';
import { createOperatorGateway, isOperatorPath } from '../../functions/operator/routes.ts';
import type { Composition } from '../../shared/composition/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';

export function createWholeGateway(composition: Composition, page: Page): Gateway {
  const chat = createChatGateway(composition);
  const operator = createOperatorGateway(composition, page);
  return (request, context) => (isOperatorPath(request.path) ? operator : chat)(request, context);
}
