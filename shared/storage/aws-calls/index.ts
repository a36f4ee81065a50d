export { type CallKind, callWithAttempts } from './attempts.ts';
export { AwsCallFailed, awsCallFailed } from './aws-call-failed.ts';
export { awsOrigin, createAwsEndpoint } from './aws-endpoint.ts';
export { type AwsService, type AwsServiceOptions, createAwsService } from './aws-service.ts';
export { callOperation, type JsonObject, operationCall, parseObject, readJsonAnswer } from './json-operation.ts';
export { createSigner, type Identity } from './sign.ts';
