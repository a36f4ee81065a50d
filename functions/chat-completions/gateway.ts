// The routes of the chat function. It answers GET /v1/models too: without a distribution there is still one base URL.
import { createFrontDoor, type FrontDoorDependencies } from '../../shared/front-door/index.ts';
import type { Gateway } from '../../shared/http/index.ts';
import { serveModels } from '../../shared/model-listing/index.ts';
import { routePaths } from '../../shared/names/index.ts';
import type { ChatDependencies } from './dependencies.ts';
import { serveChatCompletion } from './serve.ts';

export const createChatGateway = (deps: ChatDependencies & FrontDoorDependencies): Gateway =>
  createFrontDoor(
    {
      [routePaths.chatCompletions]: { POST: serveChatCompletion(deps) },
      [routePaths.models]: { GET: serveModels(deps) },
    },
    deps,
  );
